package record

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// Whom an on-site record shows: the person that the board knew for the phone shown, otherwise the grant's holder (who
// may have changed since); never a complete phone number.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ head, tail, holder, want string }{
		{"010", "1234", "", "010-****-1234"},
		{"", "1234", "", "1234"},
		{"", "", "", "----"},
		{"010", "1234", "01099998888", "010-****-1234"},
		{"", "8888", "01099998888", "010-****-8888"},
		{"011", "8888", "01099998888", "011-****-8888"},
		{"", "", "01099998888", "010-****-8888"},
		{"010", "01012341234", "", "010-****-1234"},
		{"01012345678", "1234", "", "1234"},
		{"01x", "12-4", "", "----"},
	} {
		if got := mask(wire.Record{PhoneHead: tc.head, PhoneTail: tc.tail}, tc.holder).label; got != tc.want {
			t.Errorf("%q %q, holder %q: %q, want %q", tc.head, tc.tail, tc.holder, got, tc.want)
		}
	}
}

// Whoever comes by a link is shown as the board knew them, although the permit is somebody else's by the time that the
// record arrives. A board that doesn't say whom it had in mind can't have meant anybody who came later.
func TestEarlierHolders(t *testing.T) {
	t.Parallel()
	at := func(min int) time.Time { return noon.Add(time.Duration(min) * time.Minute) }
	permit := Credited{Phone: "01000003333", UpdatedAt: at(20), Terms: access.Grant{ID: "pmt_1", Kind: access.KindPermit, PhoneHash: "third"}}
	earlier := []Holder{{"second", "guest:*2222", "010-****-2222", at(20)}, {"first", "guest:*1111", "010-****-1111", at(10)}}
	for name, tc := range map[string]struct {
		min  int
		hash string
		want string
	}{
		"the holder, before the change":          {5, "third", "010-****-3333"},
		"the first, before":                      {5, "first", "010-****-1111"},
		"the first, long after":                  {30, "first", "010-****-1111"},
		"the second, after":                      {21, "second", "010-****-2222"},
		"nobody whom the server knows":           {30, "fourth", "----"},
		"not said, while the first one held it":  {5, "", "010-****-1111"},
		"not said, at the moment of the change":  {10, "", "010-****-2222"},
		"not said, while the second one held it": {15, "", "010-****-2222"},
		"not said, afterwards":                   {20, "", "010-****-3333"},
	} {
		for _, credited := range []bool{true, false} { // a permit opened, or a window was free
			r := wire.Record{Seq: 1, DoorID: "dor_1", At: at(tc.min).UnixMilli(), Result: vocab.Opened, Reason: vocab.FreeWindow, TokenHash: "link", HolderHash: tc.hash}
			tx := &memTx{links: map[string]Credited{"link": permit}, earlier: earlier, credited: permit}
			if credited {
				r.Reason, r.GrantID = vocab.Reason(vocab.Onsite), "pmt_1"
			}
			if _, err := (Keeper{tx}).Upload(brd, []wire.Record{r}); err != nil || len(tx.records) != 1 {
				t.Fatalf("%s: %d records, %v, want one", name, len(tx.records), err)
			}
			if got := tx.records[0].ActorLabel; got != tc.want {
				t.Errorf("%s (credited: %t): shown as %s, want %s", name, credited, got, tc.want)
			}
		}
	}
}

// Whatever a board sends, what is stored belongs to one of its own doors, has a time that can be written, and shows
// only the ends of a phone number.
func FuzzUpload(f *testing.F) {
	f.Add(int64(1), noon.UnixMilli(), "dor_1", string(vocab.Opened), string(vocab.Onsite), "", "010", "1234")
	f.Add(int64(1), int64(1), "dor_1", string(vocab.Denied), string(vocab.Expired), "pmt_1", "01x", "x1234")
	f.Fuzz(func(t *testing.T, seq, at int64, door, result, reason, grant, head, tail string) {
		tx := &memTx{}
		_, err := Keeper{tx}.Upload(brd, []wire.Record{{Seq: seq, At: at, DoorID: door, Result: vocab.Result(result), Reason: vocab.Reason(reason), GrantID: grant, PhoneHead: head, PhoneTail: tail}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range tx.records {
			if r.DoorID != "dor_1" || len(r.GrantID) > 64 || len(r.ActorLabel) > len("010-****-1234") || r.Source != FromBoard {
				t.Errorf("%+v passed, want dor_1, a board's record, and a masked phone", r)
			}
			if _, err := r.OccurredAt.MarshalJSON(); err != nil {
				t.Error(err)
			}
		}
	})
}
