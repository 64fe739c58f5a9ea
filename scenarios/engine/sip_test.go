package engine

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// exchange is a target's SIP listener over UDP: who calls the number 0486 is answered 486, and so on; 0000 isn't answered.
type exchange struct {
	conn net.PacketConn
	mu   sync.Mutex
	got  []string
}

func newExchange(t *testing.T, f *fake, peers ...string) *exchange {
	t.Helper()
	e := &exchange{conn: must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)}
	t.Cleanup(func() { _ = e.conn.Close() })
	f.sip = m{"address": e.conn.LocalAddr().String(), "peers": peers}
	go e.serve()
	return e
}

var number = regexp.MustCompile(`^INVITE sip:0(\d{3})@`)

func (e *exchange) serve() {
	b := make([]byte, 64<<10)
	for {
		n, from, err := e.conn.ReadFrom(b)
		if err != nil {
			return
		}
		e.mu.Lock()
		e.got = append(e.got, from.String()+" "+string(b[:n]))
		e.mu.Unlock()
		if to := number.FindStringSubmatch(string(b[:n])); to != nil && to[1] != "000" {
			_, _ = e.conn.WriteTo([]byte("SIP/2.0 "+to[1]+" x\r\nTo: <sip:x>\r\nContent-Length: 0\r\n\r\n"), from)
		}
	}
}

// invites are the INVITEs that came so far.
func (e *exchange) invites() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return each.If(e.got, func(s string) bool { return strings.Contains(s, " INVITE ") })
}

// TestCallOverSIP: the status says what became of a call; what was decided is in the history like a call over the control API.
func TestCallOverSIP(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := newExchange(t, f, "127.0.0.1/32", "127.0.0.2/32")
	var calls []history.Event
	res, out := play(t, f, `
setup: [{cohort: {name: one, boards: 1}}, {permit: {person: ann, place: one}}]
steps:
  - phone: {person: ann, to: "0486", over: udp, status: 486, answered: true, result: opened, headers: {Privacy: none, P-Asserted-Identity: ""}}
  - phone: {person: ann, to: "0603", over: udp, trunk: second, result: denied}
  - phone: {person: ann, to: "0480", over: udp, answered: true}
    expect: result == nil
  - phone: {person: ann, to: "0404", over: udp, answered: false}
  - phone: {person: ann, to: "0503", over: udp, status: [503, 500]}
    expect: answered == nil
  - phone: {person: ann, to: "0500", over: udp, status: "${500}"}
  - phone: {person: ann, to: "0000", over: udp, trunk: stranger, quiet: true}
`, Options{Sink: func(e history.Event) {
		if e.Route == judge.SIPRoute {
			calls = append(calls, e)
		}
	}})
	if res.Files[0].Status != judge.Pass {
		t.Fatalf("got %s, want PASS\n%s", res.Files[0].Status, out)
	}
	told := each.Of(calls, func(e history.Event) string {
		m := regexp.MustCompile(`"out":(\{.*?\})`).FindStringSubmatch(e.Text)
		return fmt.Sprint(e.Kind, " ", e.PlaceID, " ", e.Status, " ", strings.Join(append(m, "", "")[1:2], ""))
	})
	want := []string{`call plc_1 200 {"answered":true,"result":"opened","status":486}`, `call plc_1 200 {"answered":true,"result":"denied","status":603}`, `call plc_1 200 {"answered":true,"result":null,"status":480}`,
		`call plc_1 200 {"answered":false,"result":null,"status":404}`, `call plc_1 503 {"answered":null,"result":null,"status":503}`, "unanswered plc_1 0 "}
	if !slices.Equal(told, want) {
		t.Errorf("the history has %q, want %q", told, want)
	}
	got := e.invites()
	for i, from := range []string{"127.0.0.1:", "127.0.0.2:", "127.0.0.1:", "127.0.0.1:", "127.0.0.1:", "127.0.0.1:", "127.0.0.3:"} {
		if !strings.HasPrefix(got[i], from) {
			t.Errorf("call %d comes from %.20q, want %s", i, got[i], from)
		}
	}
	if !strings.Contains(got[0], "\r\nPrivacy: none\r\n") || strings.Contains(got[0], "P-Asserted-Identity") {
		t.Errorf("got %q, want the header that has a value", got[0])
	}
}

// TestWrongAnswerOverSIP: an answer other than the expected one fails the step, and one that says nothing of the door proves nothing.
func TestWrongAnswerOverSIP(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]judge.Status{
		`phone: {person: ann, to: "0603", over: udp, result: opened}`:                                   judge.Fail,
		`phone: {person: ann, to: "0603", over: udp, status: 486}`:                                      judge.Fail,
		`phone: {person: ann, to: "0486", over: udp, answered: false}`:                                  judge.Fail,
		`phone: {person: ann, to: "0486", over: udp, quiet: true}`:                                      judge.Fail,
		`{phone: {person: ann, to: "0486", over: udp, answered: true}, clauses: [ENT-3]}`:               judge.Invalid,
		`{phone: {person: ann, to: "0486", over: udp, status: [486, 603]}, clauses: [ENT-3]}`:           judge.Invalid,
		`{phone: {person: ann, to: "0486", over: udp}, expect: status < 700, clauses: [ENT-3]}`:         judge.Invalid,
		`{phone: {person: ann, to: "0486", over: "${'sctp'}", status: 486}, clauses: [ENT-3]}`:          judge.Blocked,
		`{phone: {person: ann, to: "0486", over: udp, status: 486, headers: {"a b": c}}, name: header}`: judge.Blocked,
	} {
		f := newFake(t)
		newExchange(t, f, "127.0.0.1/32")
		if !strings.HasPrefix(step, "{") {
			step = "{" + step + "}"
		}
		res, out := play(t, f, `{setup: [{cohort: {name: one, boards: 1}}, {permit: {person: ann, place: one}}], steps: [`+step+`]}`, Options{})
		if got := res.Files[0]; got.Status != want {
			t.Errorf("%s: got %s %q, want %s\n%s", step, got.Status, got.Reason, want, out)
		}
	}
}

// TestNoTrunk: a file that calls over SIP is skipped where it can't, with the reason.
func TestNoTrunk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		peers []string // nil: no SIP
		trunk string
		want  string
	}{
		"no SIP":              {nil, "first", "needs phone entry over SIP"},
		"somebody else's":     {[]string{"192.0.2.0/24"}, "first", "may call over SIP as the first trunk"},
		"only one trunk":      {[]string{"127.0.0.1/32"}, "second", "may call over SIP as the second trunk"},
		"everybody is a peer": {[]string{"127.0.0.0/8"}, "stranger", "from which nobody may call"},
		"two of many":         {[]string{"127.0.0.0/8"}, "second", ""},
		"not 127.0.0.1":       {[]string{"127.9.0.1/32"}, "first", ""},
		"a stranger":          {[]string{"127.9.0.1/32"}, "stranger", ""},
	} {
		f := newFake(t)
		if c.peers != nil {
			newExchange(t, f, c.peers...)
		}
		res, out := play(t, f, `steps: [{phone: {from: "01011112222", to: "0486", over: udp, trunk: `+c.trunk+`, status: 486}}]`, Options{})
		want := judge.Pass
		if c.want != "" {
			want = judge.Skipped
		}
		if got := res.Files[0]; got.Status != want || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: got %s %q, want %s %q\n%s", name, got.Status, got.Reason, want, c.want, out)
		}
	}
}

// TestAnyAddressOfTheTarget: a listener on every address of its machine is called where the target is.
func TestAnyAddressOfTheTarget(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	e := newExchange(t, f, "127.0.0.0/8")
	f.sip["address"] = "0.0.0.0:" + fmt.Sprint(must.Get(netip.ParseAddrPort(e.conn.LocalAddr().String()))(t).Port())
	res, out := play(t, f, `steps: [{phone: {from: "01011112222", to: "0486", over: udp, status: 486}}]`, Options{})
	if res.Files[0].Status != judge.Pass {
		t.Errorf("got %s, want PASS\n%s", res.Files[0].Status, out)
	}
}

// TestKeysOfCalls: keys that don't go together, or that a call over SIP can't meet, are reported before the run.
func TestKeysOfCalls(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		`trunk: second`:                              "give over, udp or tcp, too",
		`headers: {Privacy: id}`:                     "give over, udp or tcp, too",
		`quiet: true`:                                "give over, udp or tcp, too",
		`over: sctp`:                                 "valid: udp tcp",
		`over: udp, reason: expired`:                 "isn't told the reason",
		`over: udp, result: offline`:                 "give status: 480",
		`over: udp, quiet: true, status: 403`:        "quiet expects that there is no answer",
		`over: udp, status: 100`:                     "from 200 to 699",
		`over: udp, times: 0`:                        "at least 1",
		`over: udp, trunk: third`:                    "valid: first second stranger",
		`over: udp, result: denied, trunk: stranger`: "",
	} {
		_, err := Parse("x.yaml", []byte(`steps: [{phone: {from: "1", to: "2", `+keys+`}}]`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", keys, err, want)
		}
	}
}
