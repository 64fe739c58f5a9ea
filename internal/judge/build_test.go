package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// builder writes histories in which every part is honest.
type builder struct {
	at, wall int64
	n        int
	events   []history.Event
	rev      map[string]int64
	digest   map[string]string
	boards   map[string]*simBoard
	auto     bool // boards rest when it is due
	minutes  int  // of holds
}

type simBoard struct {
	id, place       string
	epoch, rev, seq int64
	boot            int
	cutAt           int64 // 0 = connected
	rested          bool
	resting         string // what its channels do while resting
	buffered        []history.Event
}

const t0 = int64(1_795_000_000_000)

func newBuilder() *builder {
	return &builder{at: t0, wall: t0 * 1e6, rev: map[string]int64{}, digest: map[string]string{}, boards: map[string]*simBoard{}}
}

// offlineBoard is a place with a board that isn't connected yet.
func offlineBoard() *builder {
	h := newBuilder()
	h.base("plc_a")
	h.addBoard("plc_a", "brd_1")
	return h
}

func (h *builder) emit(e history.Event) {
	h.wall += 1e6
	if e.At == 0 {
		e.At = h.at
	}
	e.WallNs = h.wall
	h.events = append(h.events, e)
}

// live lets time pass by itself.
func (h *builder) live(ms int64) { h.at, h.wall = h.at+ms, h.wall+ms*1_000_000 }

// pass advances domain time but, beyond a few seconds, not wall time: a jump. With auto, it stops where a board is due to rest.
func (h *builder) pass(ms int64) {
	until := h.at + ms
	for h.auto {
		var next *simBoard
		for _, id := range h.boardIDs() {
			b := h.boards[id]
			if b.cutAt != 0 && !b.rested && b.cutAt+limitMs <= until && (next == nil || b.cutAt < next.cutAt) {
				next = b
			}
		}
		if next == nil {
			break
		}
		h.at, next.rested = next.cutAt+limitMs, true
		h.rest(next.id, "lock")
	}
	if h.at = until; ms > 0 && ms <= 1000 {
		h.wall += ms * 1_000_000
	}
}

func (h *builder) id(prefix string) string {
	h.n++
	return fmt.Sprintf("%s_%d", prefix, h.n)
}

func doorOf(board string, channel int) string { return fmt.Sprintf("dor_%s_%d", board, channel) }

func (h *builder) addBoard(place, id string) {
	h.boards[id] = &simBoard{id: id, place: place, boot: 1}
	for c := 1; c <= 2; c++ {
		h.emit(history.Event{Kind: history.Door, BoardID: id, PlaceID: place, DoorID: doorOf(id, c), Channel: c})
	}
}

func (h *builder) base(place string) {
	h.rev[place], h.digest[place] = 1, "d1"
	h.emit(history.Event{Kind: history.Content, PlaceID: place, Revision: 1, Op: history.ContentHours, Text: `{"timezone":"Asia/Seoul","week":{}}`})
	h.emit(history.Event{Kind: history.Content, PlaceID: place, Revision: 1, Op: history.ContentBase})
}

// entries sets a place's entry doors from now on.
func (h *builder) entries(place string, doors ...string) {
	text, _ := json.Marshal(doors)
	h.emit(history.Event{Kind: history.Entries, PlaceID: place, Text: string(text)})
}

func (h *builder) online(id string) {
	b := h.boards[id]
	b.epoch++
	age := int64(0)
	if b.cutAt != 0 {
		age = h.at - b.cutAt
	}
	h.emit(history.Event{Kind: history.Online, BoardID: id, PlaceID: b.place, Epoch: b.epoch, Revision: b.rev, OutageAgeMs: age})
	if b.resting == "hold" { // held until recovery, then locked
		for c := 1; c <= 2; c++ {
			h.emit(history.Event{Kind: history.Actuation, BoardID: id, PlaceID: b.place, DoorID: doorOf(id, c), Channel: c, Boot: b.boot, Action: "lock", Cause: "outage", Revision: b.rev})
		}
	}
	b.cutAt, b.rested, b.resting = 0, false, ""
	h.apply(id)
	for _, r := range b.buffered {
		h.record(r)
	}
	b.buffered = nil
}

func (h *builder) apply(id string) {
	b := h.boards[id]
	b.rev = h.rev[b.place]
	h.emit(history.Event{Kind: history.Applied, BoardID: id, PlaceID: b.place, Revision: b.rev, Digest: h.digest[b.place]})
}

func (h *builder) record(e history.Event) {
	e.Kind, e.RecordID, e.Actor, e.Text, e.At = history.RecordIn, h.id("rec"), "guest:*1234", "010-****-1234", 0
	h.emit(e)
}

// change commits a grant and syncs it to the place's connected boards.
func (h *builder) change(place, op string, g refGrant) {
	h.rev[place]++
	h.digest[place] = fmt.Sprintf("d%d", h.rev[place])
	text, _ := json.Marshal(g)
	h.emit(history.Event{Kind: history.Committed, PlaceID: place, Revision: h.rev[place], Digest: h.digest[place], GrantID: g.ID, Op: op})
	h.emit(history.Event{Kind: history.Content, PlaceID: place, Revision: h.rev[place], Op: history.ContentGrant, GrantID: g.ID, Text: string(text)})
	h.pass(1000)
	for _, id := range h.boardIDs() {
		if b := h.boards[id]; b.place == place && b.cutAt == 0 && b.epoch > 0 {
			h.apply(id)
		}
	}
}

func (h *builder) boardIDs() []string {
	var out []string
	for id := range h.boards {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

func (h *builder) cut(id string) {
	b := h.boards[id]
	b.cutAt = h.at
	h.emit(history.Event{Kind: history.Line, BoardID: id, Op: "down", Text: "offline"})
	h.emit(history.Event{Kind: history.Offline, BoardID: id, Epoch: b.epoch})
}

func (h *builder) rest(id string, action string) {
	b := h.boards[id]
	b.resting = action
	for c := 1; c <= 2; c++ {
		h.emit(history.Event{Kind: history.Actuation, BoardID: id, PlaceID: b.place, DoorID: doorOf(id, c), Channel: c, Boot: b.boot,
			Action: action, Cause: "outage", Revision: b.rev, OutageAgeMs: h.at - b.cutAt})
	}
}

func (h *builder) back(id string) {
	h.emit(history.Event{Kind: history.Line, BoardID: id, Op: "up"})
	h.online(id)
}

// present puts a person at the reader of channel 1.
func (h *builder) present(id, person string, result vocab.Result, reason vocab.Reason, grant string) {
	b := h.boards[id]
	age := int64(0)
	if b.cutAt != 0 {
		age = h.at - b.cutAt
	}
	b.seq++
	e := history.Event{Kind: history.Presented, BoardID: id, PlaceID: b.place, DoorID: doorOf(id, 1), Result: result, Reason: reason,
		GrantID: grant, Revision: b.rev, OutageAgeMs: age, PhoneHash: person, RecordSeq: b.seq}
	if result == "opened" {
		h.emit(history.Event{Kind: history.Actuation, BoardID: id, PlaceID: b.place, DoorID: e.DoorID, Channel: 1, Boot: b.boot,
			Action: "pulse", Cause: causeOf(reason), GrantID: grant, Revision: b.rev, OutageAgeMs: age})
	} else {
		h.emit(history.Event{Kind: history.Actuation, BoardID: id, PlaceID: b.place, DoorID: e.DoorID, Channel: 1, Boot: b.boot,
			Action: "deny", Cause: "onsite", Revision: b.rev, OutageAgeMs: age})
	}
	h.emit(e)
	r := history.Event{PlaceID: b.place, BoardID: id, DoorID: e.DoorID, RecordSeq: b.seq, Result: result, Reason: reason, GrantID: grant, Method: "onsite"}
	if b.cutAt != 0 {
		b.buffered = append(b.buffered, r)
	} else {
		h.record(r)
	}
}

func causeOf(reason vocab.Reason) string {
	if reason == "free_window" {
		return "free"
	}
	return "onsite"
}

// windows commits a place's windows and syncs them to its boards.
func (h *builder) windows(place, text string) {
	h.rev[place]++
	h.digest[place] = fmt.Sprintf("d%d", h.rev[place])
	h.emit(history.Event{Kind: history.Committed, PlaceID: place, Revision: h.rev[place], Digest: h.digest[place], Op: "policy"})
	h.emit(history.Event{Kind: history.Content, PlaceID: place, Revision: h.rev[place], Op: history.ContentWindows, Text: text})
	h.pass(1000)
	for _, id := range h.boardIDs() {
		if b := h.boards[id]; b.place == place && b.cutAt == 0 && b.epoch > 0 {
			h.apply(id)
		}
	}
}

func grant(id, person string, revoked bool, doors ...string) refGrant {
	return refGrant{ID: id, Kind: "permit", PhoneHash: person, Doors: doors, StartsAt: t0 - 1000, EndsAt: t0 + 90*24*3600*1000, Revoked: revoked}
}

// clean is a correct history that exercises every clause with a checker.
func clean() *builder {
	h := newBuilder()
	h.emit(history.Event{Kind: history.Started, Text: "server"})
	for _, p := range []string{"plc_a", "plc_t", "plc_w"} {
		h.base(p)
	}
	h.addBoard("plc_a", "brd_1")
	h.addBoard("plc_a", "brd_2")
	h.addBoard("plc_t", "brd_t")
	h.addBoard("plc_w", "brd_w")
	h.entries("plc_a", doorOf("brd_2", 2), doorOf("brd_1", 1), doorOf("brd_1", 2))
	for _, id := range h.boardIDs() {
		h.online(id)
	}
	d1, d2 := doorOf("brd_1", 1), doorOf("brd_2", 1)
	h.change("plc_a", "register", grant("pmt_1", "kim", false, d1, d2))
	h.change("plc_a", "register", grant("pmt_2", "lee", false, d1))
	h.present("brd_1", "kim", "opened", "onsite", "pmt_1")
	h.present("brd_2", "lee", "denied", "door_out_of_scope", "")
	h.change("plc_a", "revoke", grant("pmt_2", "lee", true, d1))
	h.present("brd_1", "lee", "denied", "revoked", "")
	h.command("brd_1", "k-open", "open", vocab.Reported, true, 2)
	h.command("brd_1", "k-hold", "hold", vocab.Reported, true, 0)
	h.command("brd_1", "k-close", "close", vocab.Reported, true, 0)
	h.command("brd_1", "k-refused", "open", vocab.Refused, false, 1)
	h.command("brd_1", "k-silent", "open", vocab.NoResponse, true, 1)
	h.command("brd_1", "k-lost", "open", vocab.NoResponse, false, 1)
	h.command("brd_t", "k-test", "open", vocab.Reported, true, 0)
	h.reuse("brd_1", "k-open", "hold")
	h.windows("plc_w", `[{"id":"pol_1","doorId":"dor_brd_w_1","ref":"always","mode":"free"}]`)
	h.present("brd_w", "eve", "opened", "free_window", "")
	h.windows("plc_w", `[{"id":"pol_1","doorId":"dor_brd_w_1","ref":"always","mode":"closed"}]`)
	h.present("brd_w", "eve", "denied", "closed_window", "")
	h.keys()
	h.create("ref-1", "pmt_1", h.at, h.at+maxPermitMs)
	h.create("ref-1", "pmt_1", h.at, h.at+1000)
	h.read("active", h.at-1000, h.at+1000)
	h.outage36()
	h.customer()
	h.partner()
	h.change("plc_a", "register", grant("pmt_5", "han", false, d1, d2))
	h.pass(1000)
	h.emit(history.Event{Kind: history.Label, Text: "end"})
	return h
}

// outage36 cuts brd_2 off for over 36 h, changes grants meanwhile, and recovers.
func (h *builder) outage36() {
	const hour = 3600 * 1000
	h.emit(history.Event{Kind: history.Netloss, BoardID: "brd_2", Text: `{"graceSec":3600,"channels":{"1":"hold","2":"hold"},"version":1}`})
	h.cut("brd_2")
	h.command("brd_2", "k-off", "open", vocab.Offline, false, 1)
	h.pass(hour)
	h.rest("brd_2", "hold")
	h.present("brd_2", "kim", "opened", "onsite", "pmt_1")
	h.change("plc_a", "register", grant("pmt_3", "cho", false, doorOf("brd_2", 1)))
	h.present("brd_2", "cho", "denied", "no_valid_grant", "")
	h.change("plc_a", "revoke", grant("pmt_1", "kim", true, doorOf("brd_2", 1)))
	h.at = h.boards["brd_2"].cutAt + limitMs - 1000
	h.present("brd_2", "kim", "opened", "onsite", "pmt_1")
	h.pass(1000)
	h.present("brd_2", "kim", "opened", "onsite", "pmt_1")
	h.pass(1000)
	h.present("brd_2", "kim", "denied", "outage_limit", "")
	h.back("brd_2")
	h.present("brd_2", "kim", "denied", "revoked", "")
	h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
}

// find returns the index of the n-th (from 0) matching event.
func find(t *testing.T, es []history.Event, n int, match func(history.Event) bool) int {
	t.Helper()
	for i, e := range es {
		if match(e) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	t.Fatal("planted history: no such event")
	return -1
}

func failing(vs []Verdict) []string {
	var out []string
	for _, v := range vs {
		if v.Status == Fail {
			out = append(out, v.Clause)
		}
	}
	return out
}

// betweenMs lies surely between two presses or calls: within 3 s they would count as one.
const betweenMs = 6_000
