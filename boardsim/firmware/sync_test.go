package firmware

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// digest adds up a sync content item by item, like the server's store.
func digest(y wire.Sync) string {
	var s access.Sum
	for _, g := range y.Upsert {
		s.Toggle("grant", g)
	}
	for _, w := range *y.Windows {
		s.Toggle("window", w)
	}
	for _, d := range *y.Doors {
		s.Toggle("door", d)
	}
	s.Toggle("hours", *y.Hours)
	return s.String()
}

func TestSyncDigestEqualsTheServers(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	y := snapshot(4, grantOf("mem_1", "p", ""), grantOf("mem_2", "q", "<&>"))
	y.Hours.Week = access.Week{"mon": {{"09:00", "22:00"}}, "sun": {}}
	y.Hours.Holidays = []access.Holiday{{Date: "2026-10-09", Name: "한글날"}}
	raw, err := json.Marshal(y)
	if err != nil {
		t.Fatal(err)
	}
	ev := must.Get(Decode(wire.DownSync, raw))(t)
	b.published("")
	b.step(ev)
	got := b.published(wire.UpAck)
	if len(got) != 1 || got[0].(wire.SyncAck).Digest != digest(y) || got[0].(wire.SyncAck).Revision != 4 {
		t.Errorf("acknowledged %+v, want digest %s", got, digest(y))
	}
	// A delta with one grant changed, one removed, and new windows.
	g := grantOf("mem_1", "p2", "")
	ws := []access.Window{{ID: "pol_1", DoorID: "dor_1", Ref: access.RefAlways, Mode: access.ModeFree, CreatedAt: 3}}
	b.step(Event{Kind: Sync, Change: Prepare(wire.Sync{From: 4, To: 5, Upsert: []access.Grant{g}, Remove: []string{"mem_2"}, Windows: &ws})})
	y.Upsert, y.Windows = []access.Grant{g}, &ws
	if b.s.Content.Digest() != digest(y) || b.s.Content.Grants() != 1 || len(b.s.Content.person("p2")) != 1 || len(b.s.Content.find().byPhone) != 1 || len(b.s.Content.find().byToken) != 0 {
		t.Errorf("after a delta: %s, want %s", b.s.Content.Digest(), digest(y))
	}
	// Content reloaded from flash is the same.
	raw, _ = json.Marshal(b.s.Content.Snapshot())
	ev, err = Decode(wire.DownSync, raw)
	if err != nil || ApplyAll(nil, ev.Change).Digest() != b.s.Content.Digest() {
		t.Errorf("a snapshot of the content, applied to nothing, has another digest (%v)", err)
	}
}

func TestSyncOutOfOrderAsksForRepair(t *testing.T) {
	t.Parallel()
	delta := func(from, to int64) Event {
		return Event{Kind: Sync, Change: Prepare(wire.Sync{From: from, To: to, Upsert: []access.Grant{grantOf(fmt.Sprint("mem_", to), "x", "")}})}
	}
	for _, c := range []struct {
		name     string
		ev       Event
		up       string
		revision int64
	}{
		{"next", delta(1, 2), wire.UpAck, 2},
		{"a repeat of ours", delta(0, 1), wire.UpAck, 1},
		{"a gap", delta(2, 3), wire.UpDigest, 1},
		{"another base", delta(0, 5), wire.UpDigest, 1},
		{"an older snapshot", Event{Kind: Sync, Change: Prepare(snapshot(1))}, wire.UpAck, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).online()
			before := b.s.Content
			b.published("")
			out := b.step(c.ev)
			var up string
			for _, e := range out {
				if e.Kind == Publish {
					up = e.Channel
				}
			}
			b.want("answer", up, c.up)
			if b.s.Content.Revision != c.revision {
				t.Errorf("revision %d, want %d", b.s.Content.Revision, c.revision)
			}
			if c.up == wire.UpDigest && b.s.Content != before {
				t.Error("applied in part")
			}
		})
	}
}

// A snapshot that was sent twice and arrives late must not bring back what was revoked since. On a new connection an
// older snapshot is legitimate: the server may have been restored from a backup.
func TestALateSnapshotIsNotApplied(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	b.step(Event{Kind: Sync, Change: Prepare(wire.Sync{From: 1, To: 2, Remove: []string{"mem_1"}})})
	old := snapshot(1, grantOf("mem_1", "p", ""))
	b.published("")
	b.step(Event{Kind: Sync, Change: Prepare(old)})
	if got := len(b.published(wire.UpDigest)); b.s.Content.Revision != 2 || got != 1 {
		t.Errorf("revision %d and %d digests after an old snapshot on the same connection, want 2 and 1", b.s.Content.Revision, got)
	}
	b.want("the revoked person", b.present("p", "dor_1"), "denied no_valid_grant")
	b.step(Event{Kind: Disconnected})
	b.online()
	b.step(Event{Kind: Sync, Change: Prepare(old)})
	if b.s.Content.Revision != 1 {
		t.Errorf("revision %d after an older snapshot on a new connection, want 1: the server knows", b.s.Content.Revision)
	}
}

func TestBoardsOfAPlaceShareTheContent(t *testing.T) {
	t.Parallel()
	ch := Prepare(wire.Sync{From: 1, To: 2, Upsert: []access.Grant{grantOf("mem_2", "q", "")}})
	base := ApplyAll(nil, Prepare(snapshot(1)))
	if once, again := base.Apply(ch), base.Apply(ch); once != again {
		t.Error("computed twice")
	}
	other := ApplyAll(nil, Prepare(snapshot(1, grantOf("mem_1", "p", ""))))
	if other.Apply(ch).Grants() != 2 || base.Apply(ch).Grants() != 1 {
		t.Error("another base's result was taken")
	}
	same := ApplyAll(nil, Prepare(snapshot(1)))
	if base.Apply(ch) != same.Apply(ch) {
		t.Error("computed twice for boards that came to the same content by different ways")
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	set := func(n wire.Netloss, session int64) wire.SyncAck {
		b.published("")
		b.step(Event{Kind: Config, SessionMs: session, Config: wire.Config{ID: "c", Netloss: n, NotAfterMs: 100}})
		return b.published(wire.UpAck)[0].(wire.SyncAck)
	}
	if b.s.Netloss.GraceSec != wire.DefaultGraceSec || b.s.Netloss.Channels[2] != wire.RestClose || b.s.Netloss.Version != 0 {
		t.Errorf("never configured: got %+v, want GraceSec %v, Channels[2] %v and Version 0", b.s.Netloss, wire.DefaultGraceSec, wire.RestClose)
	}
	a := set(wire.Netloss{GraceSec: 5, Channels: map[int]string{2: wire.RestOff}, Version: 1}, 1)
	if a.Result != vocab.OK || a.Netloss.Channels[1] != wire.RestClose || a.Netloss.Channels[2] != wire.RestOff || a.Netloss.GraceSec != 5 {
		t.Errorf("named channels are replaced, the full map is returned: got %+v %+v, want Result %v, Netloss.Channels[1] %v, Netloss.Channels[2] %v and Netloss.GraceSec 5", a, a.Netloss, vocab.OK, wire.RestClose, wire.RestOff)
	}
	for _, n := range []wire.Netloss{{GraceSec: -1}, {GraceSec: maxGrace + 1}, {Channels: map[int]string{9: wire.RestOff}}, {Channels: map[int]string{1: "dance"}}} {
		if a := set(n, 1); a.Result != vocab.Refused || a.Netloss.GraceSec != 5 {
			t.Errorf("%+v: got %+v, want a.Result = vocab.Refused, a.Netloss.GraceSec = 5", n, a)
		}
	}
	if a := set(wire.Netloss{GraceSec: 6}, 101); a.Code != "expired" {
		t.Errorf("late: got %+v, want Code expired", a)
	}
}

func TestRecordsGoUpInOrderOnceEach(t *testing.T) {
	t.Parallel()
	b := newBench(t).online().cut()
	const n = 250
	for range n {
		b.present("p", "dor_1")
	}
	b.published("")
	b.online()
	var seqs []int64
	for range 10 {
		got := b.published(wire.UpRec)
		if len(got) == 0 {
			break
		}
		for _, r := range got[0].(wire.Records).Records {
			seqs = append(seqs, r.Seq)
		}
		b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckRec, Seq: seqs[len(seqs)-1]}})
	}
	if len(seqs) != n || len(b.s.Records) != 0 {
		t.Errorf("got %d uploaded, %d left, want %d and 0", len(seqs), len(b.s.Records), n)
	}
	for i, s := range seqs {
		if s != int64(i+1) {
			t.Fatalf("record %d at place %d, want %d", s, i, int64(i+1))
		}
	}
}

func TestRecordsAreSentAgainWithBackOff(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	b.present("p", "dor_1")
	b.published("")
	b.to(hour)
	if got := len(b.published(wire.UpRec)); got < 5 || got > 12 {
		t.Errorf("sent again %d times in an hour, want 5 to 12", got)
	}
}

// pagesOf splits a snapshot into one page per grant.
func pagesOf(y wire.Sync) (out []wire.Sync) {
	y.Digest = digest(y)
	for i, g := range y.Upsert {
		p := wire.Sync{To: y.To, Snapshot: true, Digest: y.Digest, Page: i + 1, Pages: len(y.Upsert), Upsert: []access.Grant{g}}
		if i == 0 {
			p.Timezone, p.Windows, p.Hours, p.Doors, p.PhoneKey = y.Timezone, y.Windows, y.Hours, y.Doors, "0f"
		}
		out = append(out, p)
	}
	return out
}

// A paged change is applied as a whole, after its last page. Pages received so far survive a lost connection but not
// a reboot.
func TestPages(t *testing.T) {
	t.Parallel()
	y := snapshot(9, grantOf("mem_a", "q", ""), grantOf("mem_b", "r", ""), grantOf("mem_c", "s", ""))
	pages := pagesOf(y)
	b := newBench(t).online()
	feed := func(i int) string {
		t.Helper()
		b.published("")
		b.step(Event{Kind: Sync, Change: Prepare(pages[i])})
		var said string
		for _, p := range b.published(wire.UpAck) {
			a := p.(wire.SyncAck)
			said += fmt.Sprintf("%s %d/%d ", a.Type, a.Page, a.Revision)
		}
		return said
	}
	partial := func() string {
		t.Helper()
		b.published("")
		b.step(Event{Kind: Connected})
		h := b.published(wire.UpHello)[0].(wire.Hello)
		b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckHello, Epoch: 8, SessionMs: 1}})
		if h.Partial == nil {
			return "none"
		}
		return fmt.Sprintf("%d/%d %v", h.Partial.Page, h.Partial.To, h.Partial.Digest == digest(y))
	}
	for i, step := range []struct {
		page int
		want string
	}{{1, "page 0/9 "}, {0, "page 1/9 "}, {0, "page 1/9 "}, {2, "page 1/9 "}, {1, "page 2/9 "}} {
		if got := feed(step.page); got != step.want {
			t.Errorf("step %d: said %q, want %q", i, got, step.want)
		}
	}
	if b.s.Content.Revision != 1 || b.present("p", "dor_1") != "opened onsite" || b.present("q", "dor_1") != "denied no_valid_grant" {
		t.Errorf("a part of the change is in effect at revision %d, want none before the last page", b.s.Content.Revision)
	}
	b.step(Event{Kind: Disconnected})
	if got := partial(); got != "2/9 true" {
		t.Errorf("after a lost connection: got %s, want 2/9 true", got)
	}
	if got := feed(2); got != "sync 0/9 " || b.s.Content.Digest() != digest(y) || b.s.Content.Grants() != 3 || b.s.Content.PhoneKey != "0f" {
		t.Errorf(`the last page: said %q, %d grants; want "sync 0/9 " and 3`, got, b.s.Content.Grants())
	}
	if got := feed(2); got != "sync 0/9 " {
		t.Errorf("the last page once more: said %q, want %q", got, "sync 0/9 ")
	}
	pages = pagesOf(snapshot(12, y.Upsert...))
	feed(0)
	b.step(Event{Kind: Reboot})
	if got := partial(); got != "none" {
		t.Errorf("after a reboot: got %s, want none", got)
	}
}

// A paged delta removes what any of its pages removes.
func TestPagesOfADelta(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	had := b.s.Content.Grants()
	for _, p := range []wire.Sync{{Page: 1, Remove: []string{"mem_1"}}, {Page: 2, Upsert: []access.Grant{grantOf("mem_b", "r", "")}}} {
		p.From, p.To, p.Pages, p.Digest = 1, 2, 2, "d"
		b.step(Event{Kind: Sync, Change: Prepare(p)})
	}
	if b.s.Content.Revision != 2 || b.s.Content.Grants() != had || b.present("p", "dor_1") != "denied no_valid_grant" || b.present("r", "dor_1") != "opened onsite" {
		t.Errorf("revision %d, %d grants; want 2, %d, the one that was removed denied and the new one let in", b.s.Content.Revision, b.s.Content.Grants(), had)
	}
}

// Boards that hold the same pages share the decoded content.
func TestPagesAreShared(t *testing.T) {
	t.Parallel()
	var pages []*Change
	for _, p := range pagesOf(snapshot(9, grantOf("mem_a", "q", ""), grantOf("mem_b", "r", ""))) {
		pages = append(pages, Prepare(p))
	}
	var contents []*Content
	for range 2 {
		b := newBench(t).online()
		for _, p := range pages {
			b.step(Event{Kind: Sync, Change: p})
		}
		contents = append(contents, b.s.Content)
	}
	if contents[0] != contents[1] {
		t.Error("two boards have a content each")
	}
}
