package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/vocab"
)

type commandView struct {
	Chain    Chain
	Place    string
	Door     string
	Outcome  string // key
	Class    string
	Sign     string
	At       string
	Took     string
	Answer   string
	Steps    []hop
	Refusal  string // the board's code
	Request  int64  // its number in the inbox, 0 = it came without one, or long ago
	Messages []messageRow
}

// hop is one step of the way: when it was reached, and its bar.
type hop struct {
	Word     string // key
	Reached  bool
	After    string // since the request
	Took     string // since the step before
	X, Width string // of its bar, in percent of the whole
	Note     string
}

// messageRow is one message of a board.
type messageRow struct {
	N      int
	Time   string
	Exact  string
	Offset string // since the request
	Down   bool
	Kind   string
	Size   string
	Text   string
	Times  int    // how often it came, this the latest; 0 or 1 = once
	First  string // the time of the first of them
}

func (c *Console) command(r *http.Request) (any, error) {
	id := chi.URLParam(r, "id")
	x, ok := c.cfg.Feed.Chain(id)
	if !ok {
		return nil, &client.Error{Status: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf("no command %q among the latest %s", id, amount.Number(keepChains))}
	}
	o := outcomes[x.Outcome]
	v := commandView{Chain: x, Place: c.names.place(x.PlaceID), Door: c.names.door(x.DoorID), Outcome: x.word(), Class: o.class, Sign: o.sign,
		At: when(x.At), Took: span(x.Took()), Answer: masked(x.Answer, false), Steps: waterfall(x), Refusal: x.refusal(), Request: c.requestOf(r, x)}
	for _, m := range c.cfg.Feed.Messages(x.BoardID, id, 20) {
		row := messageOf(m)
		row.Offset = "+" + span(m.Mono-x.Accepted)
		v.Messages = append(v.Messages, row)
	}
	slices.Reverse(v.Messages)
	return v, nil
}

// word is the key of the command's outcome.
func (c Chain) word() string { return "outcome." + cmp.Or(c.Outcome, "running") }

// refusal is the code with which the board refused, "" if it didn't.
func (c Chain) refusal() string {
	var answer struct{ Details struct{ DeviceCode string } }
	_ = json.Unmarshal(c.Answer, &answer) // an answer in progress is empty
	return answer.Details.DeviceCode
}

// requestOf is the number of the request that a command came with: the first, as others are replays. A call comes with none.
func (c *Console) requestOf(r *http.Request, x Chain) (seq int64) {
	path := map[string]string{string(vocab.API): x.DoorID, string(vocab.Link): "/entry/open"}[x.Method]
	ask := url.Values{"placeId": {x.PlaceID}, "path": {path}, "limit": {fmt.Sprint(inboxRows)}}
	var list []request
	if path == "" || c.lab(r.Context(), http.MethodGet, "/inbox?"+ask.Encode(), nil, &list) != nil {
		return 0 // the page is about the command
	}
	for _, q := range list {
		if q.CommandID == x.ID {
			seq = q.Seq
		}
	}
	return seq
}

func messageOf(m Message) messageRow {
	return messageRow{N: m.N, Time: clockTime(m.At), Exact: when(m.At), Down: m.Down, Kind: m.Says(), Size: amount.Number(m.Size), Text: m.Text()}
}

// waterfall lists the steps in order, each with its bar from the latest step before it. Relay and report are missing if
// the board didn't act or report, the publish if nothing was sent.
func waterfall(x Chain) []hop {
	end := cmp.Or(x.Settled, clock.Mono())
	whole := max(end-x.Accepted, time.Microsecond)
	last := x.Accepted
	out := []hop{{Word: "hop.request", Reached: true, After: "0 ms", X: "0", Width: "0", Note: x.Command}}
	board, did := "hop.relay", x.Action
	if x.Action == string(firmware.ActRefuse) { // no relay moved
		board, did = "hop.refused", x.refusal()
	}
	for _, s := range []struct {
		word, note string
		at         time.Duration
	}{{"hop.decided", "", x.Decided}, {"hop.claimed", "", x.Committed}, {"hop.published", "", x.Published}, {board, did, x.Relay}, {"hop.reported", "", x.Reported}, {"hop.answered", x.Outcome, x.Settled}} {
		h := hop{Word: s.word, Note: s.note}
		if s.at != 0 {
			from := min(last, s.at)
			h.Reached, h.After, h.Took = true, span(s.at-x.Accepted), span(max(0, s.at-last))
			h.X = fmt.Sprintf("%.2f", 100*float64(from-x.Accepted)/float64(whole))
			h.Width = fmt.Sprintf("%.2f", max(0.4, 100*float64(s.at-from)/float64(whole)))
			last = max(last, s.at)
		}
		out = append(out, h)
	}
	return out
}
