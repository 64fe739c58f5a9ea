package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// texts are usual ones, and some that JSON escapes or that deceive a reader of quotes.
var texts = rapid.OneOf(rapid.StringMatching(`[a-z_]{0,12}`), rapid.String(), rapid.SampledFrom([]string{`"`, `\`, `<b>&`, "\u2028", "\xff", `","seq":1`}))

func optional[T any](t *rapid.T, g *rapid.Generator[T], name string) *T {
	if !rapid.Bool().Draw(t, name+" is there") {
		return nil
	}
	v := g.Draw(t, name)
	return &v
}

// TestCodec: the messages of a door command are written to the byte as encoding/json writes them, and read as it reads
// them.
func TestCodec(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return texts.Draw(t, name) }
		number := func(name string) int64 { return rapid.OneOf(rapid.Int64(), rapid.Int64Range(-20, 20)).Draw(t, name) }
		small := func(name string) int { return rapid.IntRange(-2, 2000).Draw(t, name) }
		same(t, Command{text("id"), number("epoch"), number("seq"), text("door"), small("channel"), text("command"), small("minutes"), number("not after"), text("grant")})
		same(t, Ack{text("type"), number("epoch"), number("session"), number("time"), text("command"), number("seq"), rapid.Bool().Draw(t, "accepted")})
		r := Report{text("command"), number("epoch"), vocab.Result(text("result")), text("code"), number("at"), nil}
		if rapid.Bool().Draw(t, "standing") {
			r.Standing = &Standing{text("door"), small("channel"), text("state"), text("leaf"), number("since"), optional(t, rapid.Int64(), "until"), rapid.Bool().Draw(t, "held"), number("number")}
		}
		same(t, r)
	})
}

func same[T any](t rapid.TB, v T) {
	want, should := json.Marshal(v)
	got, err := Marshal(v)
	if string(got) != string(want) || err != nil || should != nil {
		t.Errorf("%+v is written as %s, %v, want %s, %v", v, got, err, want, should)
	}
	alike[T](t, want)
}

// alike holds that a payload is read, or refused, as encoding/json does.
func alike[T any](t rapid.TB, payload []byte) {
	var got, want T
	err, should := Unmarshal(payload, &got), json.Unmarshal(payload, &want)
	if (err == nil) != (should == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as %+v, %v, want %+v, %v", payload, got, err, want, should)
	}
}

// FuzzCodec: whatever a peer sends is read, or refused, as encoding/json does.
func FuzzCodec(f *testing.F) {
	until := int64(1)
	for _, v := range []any{Command{ID: "cmd_1", Minutes: 3, GrantID: "grt_1"}, Ack{Type: AckRpt, CommandID: "cmd_1", Seq: 4, Accepted: true},
		Report{CommandID: "cmd_1", Code: "busy", Standing: &Standing{DoorID: "door_1", HoldUntil: &until, Held: true}}} {
		f.Add(must.Get(json.Marshal(v))(f))
	}
	f.Add([]byte(`{"type":"rpt","epoch":01,"sessionMs":-,"time":9223372036854775808,"accepted":true}`))
	f.Add([]byte(`{"commandId":"x","epoch":1,"result":"ok","at":-0,"standing":{"doorId":"","channel":1}} `))
	f.Fuzz(func(t *testing.T, payload []byte) {
		alike[Command](t, payload)
		alike[Ack](t, payload)
		alike[Report](t, payload)
	})
}

// TestUsualIsQuick: the usual messages don't take the slow way.
func TestUsualIsQuick(t *testing.T) {
	t.Parallel()
	w := writer{usual: true}
	w.command(&Command{ID: "cmd_1", DoorID: "door_1", Command: CmdOpen, GrantID: "grt_1"})
	w.ack(&Ack{Type: AckRpt, CommandID: "cmd_1", Accepted: true})
	w.report(&Report{CommandID: "cmd_1", Result: vocab.Refused, Code: "busy", Standing: &Standing{State: "unlocked", Leaf: "closed", Held: true}})
	r := reader{rest: w.b, usual: true}
	r.command()
	r.ack()
	r.report()
	if !w.usual || !r.all() {
		t.Errorf("usual when written: %v, when read: %v, want both; left: %s", w.usual, r.usual, r.rest)
	}
}
