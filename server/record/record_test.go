package record

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/fail"
)

var (
	noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	brd  = board.State{BoardID: "brd_1", LastSeenAt: noon, PlaceID: "plc_a", Doors: []board.Door{{DoorID: "dor_1", Channel: 1}}}
)

// memTx is a Tx in memory, and its Store.
type memTx struct {
	records  []Record
	events   []Event
	uses     int
	audits   []Audit
	credited Credited
	links    map[string]Credited // by token hash
	earlier  []Holder
	fail     error
}

func (t *memTx) KeepRecords(fn func(Tx, time.Time) error) error { return fn(t, noon) }
func (t *memTx) DoorName(string) (string, error)                { return "Front", t.fail }
func (t *memTx) Credited(string, string) (Credited, error)      { return t.credited, nil }
func (t *memTx) CreditedLink(hash, _ string) (Credited, error)  { return t.links[hash], nil }
func (t *memTx) EarlierHolders(string) ([]Holder, error)        { return t.earlier, t.fail }
func (t *memTx) InsertEvent(e Event) error                      { t.events = append(t.events, e); return nil }
func (t *memTx) CountUse(string, time.Time) error               { t.uses++; return nil }
func (t *memTx) InsertAudit(a Audit) error                      { t.audits = append(t.audits, a); return t.fail }
func (t *memTx) SaveBoardState(board.State) error               { return nil }

func (t *memTx) InsertRecord(r Record) (bool, error) {
	for _, have := range t.records {
		if r.Dedupe != "" && have.Dedupe == r.Dedupe {
			return false, nil
		}
	}
	t.records = append(t.records, r)
	return true, nil
}

func (t *memTx) RecordOfCommand(id string) (Record, error) {
	for _, r := range t.records {
		if r.CommandID == id {
			return r, nil
		}
	}
	return Record{}, fail.ErrNotFound
}

func (t *memTx) SettleRecord(id string, as vocab.Result, at time.Time) error {
	for i := range t.records {
		if t.records[i].ID == id {
			t.records[i].SettledAs, t.records[i].SettledAt = as, at
		}
	}
	return nil
}

func (t *memTx) kinds() string {
	var out []string
	for _, e := range t.events {
		out = append(out, e.Kind)
	}
	return strings.Join(out, " ")
}

func TestKeepFillsIn(t *testing.T) {
	t.Parallel()
	tx := &memTx{}
	asked := noon.Add(-time.Minute)
	for _, r := range []Record{{DoorID: "dor_1", Result: vocab.Offline}, {Result: vocab.Denied, RequestedAt: asked}} {
		if fresh, err := Keep(tx, r, noon); !fresh || err != nil {
			t.Fatalf("fresh %t, %v, want a new record", fresh, err)
		}
	}
	a, b := tx.records[0], tx.records[1]
	if a.ID == "" || a.DoorName != "Front" || a.Source != FromServer || !a.RequestedAt.Equal(noon) || !a.OccurredAt.Equal(noon) || !a.RecordedAt.Equal(noon) {
		t.Errorf("%+v, want id, door name, source and every time filled in", a)
	}
	if b.DoorName != "" || !b.OccurredAt.Equal(asked) || !b.RecordedAt.Equal(noon) {
		t.Errorf("%+v, want no door, occurred when requested, recorded now", b)
	}
}

func TestKeepFailsWithTheStore(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	tx := &memTx{fail: full}
	if fresh, err := Keep(tx, Record{DoorID: "dor_1"}, noon); fresh || !errors.Is(err, full) || len(tx.records) != 0 {
		t.Errorf("fresh %t, %v, %d records, want the store's error and no record", fresh, err, len(tx.records))
	}
}

// Which events follow from a record, and what counts as a use of a permit.
func TestFollow(t *testing.T) {
	t.Parallel()
	permit, member := Credited{Terms: access.Grant{Kind: access.KindPermit}, ExternalRef: "ref"}, Credited{Terms: access.Grant{Kind: access.KindMembership}}
	for _, tc := range []struct {
		result   vocab.Result
		grant    string
		credited Credited
		want     string
		uses     int
	}{
		{vocab.Opened, "", Credited{}, "entry.opened", 0},
		{vocab.Opened, "pmt_1", permit, "entry.opened entry.permit.used", 1},
		{vocab.Opened, "mem_1", member, "entry.opened", 0},
		{vocab.Opened, "pmt_gone", Credited{}, "entry.opened", 0},
		{vocab.Denied, "pmt_1", permit, "entry.denied", 0},
		{vocab.Held, "pmt_1", permit, "", 0},
		{vocab.Locked, "", Credited{}, "", 0},
		{vocab.Offline, "", Credited{}, "", 0},
		{vocab.Refused, "", Credited{}, "", 0},
		{vocab.NoResponse, "pmt_1", permit, "", 0},
	} {
		tx := &memTx{credited: tc.credited}
		must.Get(Keep(tx, Record{Result: tc.result, GrantID: tc.grant}, noon))(t)
		if tx.kinds() != tc.want || tx.uses != tc.uses {
			t.Errorf("%s by %q: events %q, %d uses, want %q, %d", tc.result, tc.grant, tx.kinds(), tx.uses, tc.want, tc.uses)
		}
		for _, e := range tx.events {
			if wantPermit := tc.credited.Terms.Kind == access.KindPermit; (e.PermitID != "") != wantPermit || e.ExternalRef != tc.credited.ExternalRef || e.Late {
				t.Errorf("%s by %q: %+v, want the permit named = %t", tc.result, tc.grant, e, wantPermit)
			}
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	for _, tc := range []struct {
		name    string
		have    Record
		as      vocab.Result
		settled bool
		want    string
	}{
		{"a 504 that opened", Record{CommandID: "cmd_1", Result: vocab.NoResponse}, vocab.Opened, true, "entry.opened"},
		{"a 504 that was refused", Record{CommandID: "cmd_1", Result: vocab.NoResponse}, vocab.Refused, true, ""},
		{"settled before", Record{CommandID: "cmd_1", Result: vocab.NoResponse, SettledAs: vocab.Opened}, vocab.Opened, false, ""},
		{"answered", Record{CommandID: "cmd_1", Result: vocab.Opened}, vocab.Opened, false, ""},
		{"no record", Record{CommandID: "cmd_9", Result: vocab.NoResponse}, vocab.Opened, false, ""},
	} {
		tc.have.ID = "rec_1"
		tx := &memTx{records: []Record{tc.have}}
		settled, err := Settle(tx, "cmd_1", tc.as, noon, later)
		if err != nil || settled != tc.settled || tx.kinds() != tc.want {
			t.Errorf("%s: settled %t, %v, events %q, want %t and %q", tc.name, settled, err, tx.kinds(), tc.settled, tc.want)
		}
		if r := tx.records[0]; r.Result != tc.have.Result || tc.settled && (r.SettledAs != tc.as || !r.SettledAt.Equal(noon)) {
			t.Errorf("%s: %+v, want the result kept and settledAs beside it", tc.name, r)
		}
		for _, e := range tx.events {
			if !e.Late || !e.OccurredAt.Equal(noon) || !e.RecordedAt.Equal(later) {
				t.Errorf("%s: %+v, want a late event that occurred at noon", tc.name, e)
			}
		}
	}
}

func good() wire.Record {
	return wire.Record{Seq: 1, DoorID: "dor_1", At: noon.UnixMilli(), Result: vocab.Opened, Reason: vocab.Reason(vocab.Onsite), PhoneHead: "010", PhoneTail: "1234"}
}

func TestAcceptable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*wire.Record)
		ok     bool
	}{
		"as it is":          {func(*wire.Record) {}, true},
		"free window":       {func(r *wire.Record) { r.Reason = vocab.FreeWindow }, true},
		"denied":            {func(r *wire.Record) { r.Result, r.Reason = vocab.Denied, vocab.OutageLimit }, true},
		"no sequence":       {func(r *wire.Record) { r.Seq = 0 }, false},
		"largest sequence":  {func(r *wire.Record) { r.Seq = 1<<53 - 1 }, true},
		"larger sequence":   {func(r *wire.Record) { r.Seq = 1 << 53 }, false},
		"no time":           {func(r *wire.Record) { r.At = 0 }, false},
		"impossible time":   {func(r *wire.Record) { r.At = 1 << 60 }, false},
		"an hour ahead":     {func(r *wire.Record) { r.At = noon.Add(time.Hour).UnixMilli() }, true},
		"further ahead":     {func(r *wire.Record) { r.At = noon.Add(time.Hour).UnixMilli() + 1 }, false},
		"30 days before":    {func(r *wire.Record) { r.At = noon.Add(-30 * 24 * time.Hour).UnixMilli() }, true},
		"longer before":     {func(r *wire.Record) { r.At = noon.Add(-30*24*time.Hour).UnixMilli() - 1 }, false},
		"another's door":    {func(r *wire.Record) { r.DoorID = "dor_2" }, false},
		"long grant":        {func(r *wire.Record) { r.GrantID = strings.Repeat("x", 65) }, false},
		"unknown result":    {func(r *wire.Record) { r.Result = "maybe" }, false},
		"opened, expired":   {func(r *wire.Record) { r.Reason = vocab.Expired }, false},
		"denied, as opened": {func(r *wire.Record) { r.Result = vocab.Denied }, false},
	} {
		r := good()
		tc.change(&r)
		tx := &memTx{}
		got, err := Keeper{tx}.Upload(brd, []wire.Record{r, r})
		if want := map[bool][2]int{true: {1, 0}, false: {0, 2}}[tc.ok]; err != nil || got.Fresh != want[0] || got.Bad != want[1] {
			t.Errorf("%s: %+v, %v, want %d new and %d bad", name, got, err, want[0], want[1])
		}
	}
}

// A board's claim that a permit was used is believed only if the board could have opened by it. Other openings are
// recorded without a permit.
func TestCreditOfABoard(t *testing.T) {
	t.Parallel()
	made := noon.Add(-20 * 24 * time.Hour)
	terms := access.Grant{ID: "pmt_1", Kind: access.KindPermit, Doors: []string{"dor_1"}, StartsAt: noon.UnixMilli(), EndsAt: noon.Add(time.Hour).UnixMilli()}
	since := noon.Add(-37 * time.Hour) // the board may open by what was true then
	for name, tc := range map[string]struct {
		change func(c *Credited, r *wire.Record)
		uses   int
	}{
		"its door, in its period":    {func(*Credited, *wire.Record) {}, 1},
		"the last moment":            {func(_ *Credited, r *wire.Record) { r.At = noon.Add(time.Hour).UnixMilli() - 1 }, 1},
		"its end":                    {func(_ *Credited, r *wire.Record) { r.At = noon.Add(time.Hour).UnixMilli() }, 0},
		"before its period":          {func(_ *Credited, r *wire.Record) { r.At-- }, 0},
		"another door":               {func(c *Credited, _ *wire.Record) { c.Terms.Doors = []string{"dor_2"} }, 0},
		"another door, long changed": {func(c *Credited, _ *wire.Record) { c.Terms.Doors, c.UpdatedAt = []string{"dor_2"}, since }, 0},
		"another door, just changed": {func(c *Credited, _ *wire.Record) {
			c.Terms.Doors, c.UpdatedAt = []string{"dor_2"}, since.Add(time.Millisecond)
		}, 1},
		"revoked long ago":      {func(c *Credited, _ *wire.Record) { c.Terms.Revoked, c.UpdatedAt = true, since }, 0},
		"revoked in the outage": {func(c *Credited, _ *wire.Record) { c.Terms.Revoked, c.UpdatedAt = true, noon.Add(-35*time.Hour) }, 1},
		"revoked when it was made": {func(c *Credited, r *wire.Record) {
			c.Terms.Revoked, c.CreatedAt, c.UpdatedAt = true, noon, noon
		}, 1},
		"a free window":          {func(_ *Credited, r *wire.Record) { r.Reason = vocab.FreeWindow }, 0},
		"no permit of the place": {func(c *Credited, _ *wire.Record) { *c = Credited{} }, 0},
	} {
		c, r := Credited{Phone: "01099998888", Terms: terms, CreatedAt: made, UpdatedAt: made}, good()
		r.GrantID, r.PhoneHead, r.PhoneTail = "pmt_1", "", ""
		tc.change(&c, &r)
		tx := &memTx{credited: c}
		got, err := Keeper{tx}.Upload(brd, []wire.Record{r})
		if want := (Uploaded{Fresh: 1, Uncredited: 1 - tc.uses}); err != nil || got != want || tx.uses != tc.uses {
			t.Errorf("%s: %+v, %d uses, %v, want %+v and %d uses", name, got, tx.uses, err, want, tc.uses)
		}
		if len(tx.records) != 1 {
			t.Fatalf("%s: %d records, want the opening", name, len(tx.records))
		}
		want := map[int][2]string{0: {"", "----"}, 1: {"pmt_1", "010-****-8888"}}[tc.uses]
		if k := tx.records[0]; k.GrantID != want[0] || k.ActorLabel != want[1] {
			t.Errorf("%s: record of grant %q, shown as %s, want %q and %s", name, k.GrantID, k.ActorLabel, want[0], want[1])
		}
	}
}

// If a link was shown where none was needed, or without success, the record names its holder but no permit, because
// none was used.
func TestHolderOfALink(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(r *wire.Record)
		want   string
	}{
		"in a free window":      {func(r *wire.Record) { r.Reason = vocab.FreeWindow }, "010-****-8888"},
		"in a closed window":    {func(r *wire.Record) { r.Result, r.Reason = vocab.Denied, vocab.ClosedWindow }, "010-****-8888"},
		"a link of long ago":    {func(r *wire.Record) { r.Result, r.Reason, r.TokenHash = vocab.Denied, vocab.LinkInvalid, "old" }, "----"},
		"a phone was shown":     {func(r *wire.Record) { r.Reason, r.TokenHash, r.PhoneTail = vocab.FreeWindow, "", "1234" }, "1234"},
		"a grant is named, too": {func(r *wire.Record) { r.GrantID = "pmt_none" }, "----"},
	} {
		r := good()
		r.TokenHash, r.GrantID, r.PhoneHead, r.PhoneTail = "hash", "", "", ""
		tc.change(&r)
		tx := &memTx{links: map[string]Credited{"hash": {Phone: "01099998888", Terms: access.Grant{ID: "pmt_1"}}}}
		if _, err := (Keeper{tx}).Upload(brd, []wire.Record{r}); err != nil || len(tx.records) != 1 {
			t.Fatalf("%s: %d records, %v, want one", name, len(tx.records), err)
		}
		if k := tx.records[0]; k.ActorLabel != tc.want || k.GrantID != "" || tx.uses != 0 {
			t.Errorf("%s: shown as %s with grant %q and %d uses, want %s with none", name, k.ActorLabel, k.GrantID, tx.uses, tc.want)
		}
	}
}
