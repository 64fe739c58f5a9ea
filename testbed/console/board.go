package console

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/wire"
)

// boardView is a board as its page shows it.
type boardView struct {
	boardRow
	Test         bool // of a test place: always online
	Simulated    bool // by this process
	State        control.Board
	Dropped      []dropRow
	Troubles     []troubleRow
	Doors        []doorRow
	Faults       []armedFault
	Cut          []string // ids of armed offline faults that name this board alone
	Journal      []journalRow
	JournalLines int64
	Messages     []messageRow
	Beliefs      *beliefsView
}

type dropRow struct{ Reason, Count string }

type troubleRow struct {
	Time, Exact string
	Channel     string
	Why         string // key of a text
	Field       string
	Count       int64
}

type doorRow struct {
	ID, Name  string
	Channel   int
	State     string // key of a text
	Class     string
	Leaf      string // key of a text
	Since     string
	HoldUntil string
}

type journalRow struct {
	Seq                        int64
	Boot                       int
	Time, Exact                string
	Door                       string
	Action, Cause              string
	CommandID, GrantID, Outage string
	Why                        string // address of the page that explains it; "" = nobody came to the reader
}

const (
	journalRows = 50
	messageRows = 40
	// messagesRead is how many messages are looked at for them: a quiet board has a pair of equal ones every minute.
	messagesRead = 400
)

func (c *Console) board(r *http.Request) (any, error) {
	id := chi.URLParam(r, "id")
	n, ok := c.names.boards[id]
	if !ok {
		return nil, &client.Error{Status: http.StatusNotFound, Code: "board_not_found", Message: "no board " + strconv.Quote(id)}
	}
	v := boardView{boardRow: boardRow{ID: id, Name: n.Name, Place: n.Place.Name, PlaceID: n.Place.ID}, Test: n.Place.Kind == "test"}
	for _, b := range c.cfg.Boards() {
		if b.ID == id {
			v.boardRow, v.Simulated = c.names.row(b), b.Simulated
		}
	}
	switch err := c.lab(r.Context(), http.MethodGet, "/boards/"+url.PathEscape(id), nil, &v.State); {
	case statusOf(err) == http.StatusNotFound: // simulated by another process, or real
	case err != nil:
		return nil, err
	}
	for _, reason := range slices.Sorted(maps.Keys(v.State.Dropped)) {
		v.Dropped = append(v.Dropped, dropRow{reason, amount.Number(v.State.Dropped[reason])})
	}
	v.Troubles = each.Of(v.State.Troubles, func(t control.Trouble) troubleRow {
		return troubleRow{t.At.UTC().Format("15:04:05"), when(t.At.Time), t.Channel, "trouble." + t.Reason, t.Field, t.Count}
	})
	v.doors(c, n)
	v.Messages = foldedMessages(c.cfg.Feed.Messages(id, "", messagesRead), messageRows)
	if err := v.faults(c, r); err != nil {
		return nil, err
	}
	if v.Simulated {
		if err := v.journal(c, r.Context()); err != nil {
			return nil, err
		}
		if content, policy, ok := c.cfg.Believes(id); ok {
			v.Beliefs = c.beliefsOf(content, policy)
		}
	}
	return v, nil
}

// doors are the board's doors with their reported states.
func (v *boardView) doors(c *Console, n named) {
	at := map[string]int{}
	for _, d := range n.Doors {
		at[d.ID] = len(v.Doors)
		v.Doors = append(v.Doors, doorRow{ID: d.ID, Name: c.names.door(d.ID), Channel: d.Channel, State: "door.unknown"})
	}
	for _, d := range v.State.Doors {
		i, ok := at[d.DoorID]
		if !ok || d.Standing == nil {
			continue
		}
		row, s := &v.Doors[i], d.Standing
		row.State, row.Leaf, row.Since = "door."+s.State, "leaf."+s.Leaf, when(s.Since.Time)
		row.Class = map[string]string{"unlocked": "ok", "open": "ok", "warning": "bad"}[s.State]
		if s.HoldUntil != nil {
			row.HoldUntil = s.HoldUntil.UTC().Format(timeFormat)
		}
	}
}

// faults are those armed on the board.
func (v *boardView) faults(c *Console, r *http.Request) error {
	list, err := c.armed(r)
	v.Faults = each.If(list, func(f armedFault) bool { return slices.Contains(f.Boards, v.ID) })
	for _, f := range each.If(v.Faults, armedFault.cutsOne) {
		v.Cut = append(v.Cut, f.FaultID)
	}
	return err
}

// journal is the latest part of the ground truth, newest first. It asks how long the journal is first, because a soak's is
// long, and every viewer looks every second.
func (v *boardView) journal(c *Console, ctx context.Context) error {
	var lines []struct {
		Seq                   int64
		Boot                  int
		At                    time.Time
		DoorID, Action, Cause string
		CommandID, GrantID    string
		Revision              int64
		OutageAgeSec          json.Number
	}
	path := control.Prefix + "/boards/" + url.PathEscape(v.ID) + "/journal"
	total, err := c.control().List(ctx, path+"?limit=1", nil)
	if err == nil {
		total, err = c.control().List(ctx, path+"?offset="+strconv.Itoa(max(0, total-journalRows)), &lines)
	}
	if err != nil {
		return err
	}
	v.JournalLines = int64(total)
	for _, l := range slices.Backward(lines[max(0, len(lines)-journalRows):]) {
		row := journalRow{Seq: l.Seq, Boot: l.Boot, Time: l.At.UTC().Format(timeFormat), Exact: when(l.At), Door: c.names.door(l.DoorID), Action: l.Action, Cause: l.Cause,
			CommandID: l.CommandID, GrantID: l.GrantID}
		if sec, err := l.OutageAgeSec.Float64(); err == nil && sec != 0 {
			row.Outage = age(time.Duration(sec*float64(time.Second)), false)
		}
		if l.Cause == string(firmware.CauseOnsite) || l.Cause == string(firmware.CauseFree) {
			row.Why = whyPage(v.PlaceID, l.DoorID, l.GrantID, l.Seq)
		}
		v.Journal = append(v.Journal, row)
	}
	return nil
}

type beliefsView struct {
	Revision         int64
	Timezone, Grace  string
	Grants           []grantRow
	GrantsN, WindowN string
	Windows          []windowRow
	Rest             []string
	Hours            string
}

type grantRow struct {
	ID, Kind, Doors, From, To string
	Revoked                   bool
}

type windowRow struct{ ID, Door, Ref, Mode string }

const beliefRows = 20

// beliefsOf leaves out who holds a grant: the board knows hashes only, and those stay there.
func (c *Console) beliefsOf(b wire.Sync, policy wire.Netloss) *beliefsView {
	windows := *cmp.Or(b.Windows, &[]access.Window{})
	v := &beliefsView{Revision: b.To, Timezone: b.Timezone, Grace: span(time.Duration(policy.GraceSec) * time.Second),
		GrantsN: amount.Number(len(b.Upsert)), WindowN: amount.Number(len(windows))}
	for _, g := range b.Upsert[:min(beliefRows, len(b.Upsert))] {
		row := grantRow{ID: g.ID, Kind: g.Kind, From: time.UnixMilli(g.StartsAt).UTC().Format(timeFormat), Revoked: g.Revoked,
			Doors: strings.Join(each.Of(g.Doors, c.names.door), ", ")}
		if g.EndsAt != 0 {
			row.To = time.UnixMilli(g.EndsAt).UTC().Format(timeFormat)
		}
		v.Grants = append(v.Grants, row)
	}
	v.Windows = each.Of(windows[:min(beliefRows, len(windows))], func(w access.Window) windowRow {
		return windowRow{w.ID, c.names.door(w.DoorID), w.Ref, w.Mode}
	})
	for channel, rest := range policy.Channels {
		v.Rest = append(v.Rest, strconv.Itoa(channel)+": "+rest)
	}
	slices.Sort(v.Rest)
	if b.Hours != nil {
		if raw, err := json.MarshalIndent(b.Hours, "", "  "); err == nil {
			v.Hours = string(raw)
		}
	}
	return v
}
