package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/sipcall"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Calls over SIP: where the target takes them, which addresses of this machine may call and which may not, and what the status of
// an answer means.

// Addresses that call.
const (
	trunkFirst  = "first"
	trunkSecond = "second"
	stranger    = "stranger"
)

// Trunks are the addresses that may call over SIP in the own world of a file; no other may, so that there are strangers.
func Trunks() []string { return []string{"127.0.0.1", "127.0.0.2"} }

// Calls reports whether a file calls over SIP. Worlds of other files take no calls.
func (f *File) Calls() bool { return len(usesOf(f.Doc.Setup, f.Doc.Steps).trunks) > 0 }

// sipOf is the target's phone entry over SIP; the zero sipOf = it has none.
type sipOf struct {
	addr string                // host:port
	from map[string]netip.Addr // which address of this machine calls as what; the zero Addr = whichever the machine chooses
}

// lacks says why nobody can call as this trunk, "" if somebody can.
func (s sipOf) lacks(trunk string) string {
	_, has := s.from[trunk]
	switch {
	case s.addr == "":
		return "needs phone entry over SIP (--sip), and a control API that says where it is"
	case has:
		return ""
	case trunk == stranger:
		return "needs an address of this machine from which nobody may call over SIP: start the target on loopback and with --sip-peers"
	}
	return fmt.Sprintf("needs an address of this machine that may call over SIP as the %s trunk (--sip-peers)", trunk)
}

// lacking is lacks for the first of several that lacks something.
func (s sipOf) lacking(trunks []string) (why string) {
	for _, t := range trunks {
		why = cmp.Or(why, s.lacks(t))
	}
	return why
}

// findSIP asks where the target takes calls over SIP.
func (l *lab) findSIP(ctx context.Context, target string) (sipOf, error) {
	a, err := l.call(ctx, l.main, http.MethodGet, "/sip", nil)
	if err != nil || a.Status != http.StatusOK {
		return sipOf{}, err // it has none, or is too old to say so
	}
	var got struct {
		Address string
		Peers   []netip.Prefix
	}
	if err := l.read(a, http.MethodGet, "/sip", &got); err != nil {
		return sipOf{}, err
	}
	host, port, err := net.SplitHostPort(got.Address)
	if err != nil {
		return sipOf{}, nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() { // every address of its machine
		u, err := url.Parse(target)
		if err != nil {
			return sipOf{}, err
		}
		host = u.Hostname()
	}
	s := sipOf{addr: net.JoinHostPort(host, port), from: map[string]netip.Addr{}}
	s.trunks(ctx, got.Peers)
	return s, nil
}

// trunks finds an address for each trunk. On loopback there are several; elsewhere this machine has the one that it calls from.
func (s *sipOf) trunks(ctx context.Context, peers []netip.Prefix) {
	isPeer := func(a netip.Addr) bool {
		return slices.ContainsFunc(peers, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "udp", s.addr) // sends nothing
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	own := c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	if !own.IsLoopback() || !own.Is4() {
		if isPeer(own) {
			s.from[trunkFirst] = netip.Addr{}
		}
		return
	}
	candidates := []netip.Addr{own}
	for n := range byte(4) {
		candidates = append(candidates, netip.AddrFrom4([4]byte{127, 0, 0, 2 + n}))
	}
	for _, p := range peers {
		candidates = append(candidates, p.Addr())
	}
	for _, a := range candidates {
		name := stranger
		if isPeer(a) {
			name = trunkFirst
			if first, taken := s.from[trunkFirst]; taken && first != a {
				name = trunkSecond
			}
		}
		if _, taken := s.from[name]; !taken && ownsLoopback(a) {
			s.from[name] = a
		}
	}
}

// ownsLoopback reports whether an address is one of this machine's loopback addresses: not every system has all of them.
func ownsLoopback(a netip.Addr) bool {
	if !a.IsLoopback() || !a.Is4() {
		return false
	}
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
	return err == nil && c.Close() == nil
}

// silentTime is how long a call that isn't answered waits for an answer: on loopback one comes at once.
const silentTime = 500 * time.Millisecond

// noAnswer is the status of such a call.
const noAnswer = 0

// dialled calls a number over SIP and tells the history.
func (x *frame) dialled(p *Phone, placeID string, body map[string]any) fields {
	r, at := x.run, x.run.lab.sip
	trunk := p.trunk()
	if why := at.lacks(trunk); why != "" {
		panic(stop{errors.New(why)})
	}
	over := need(p.Over.str(x.scope))
	if over != "udp" && over != "tcp" {
		panic(stop{fmt.Errorf("over must be udp or tcp, found %q", over)})
	}
	c := sipcall.Call{Network: over, Addr: at.addr, Source: at.from[trunk], To: body["to"].(string), From: body["from"].(string), Headers: map[string]string{}, Times: x.count(p.Times, 1)}
	for name, value := range p.Headers {
		if v := need(value.str(x.scope)); v != "" {
			c.Headers[name] = v
		}
	}
	if p.Quiet {
		c.Wait = silentTime
	}
	raw, sent := need(json.Marshal(body)), r.sendNow()
	r.phones.learn(raw)
	got, err := c.Make(x.ctx)
	out := resultOf(got.Status)
	told, _ := json.Marshal(map[string]any{"data": out})
	a := &answer{Status: got.Status, Raw: told}
	traceCall(x.ctx, judge.SIPMethod, "sip:"+at.addr, raw, a, err)
	if out["answered"] != nil {
		a.Status = http.StatusOK // as of the same call over the control API
	}
	if got.Status == noAnswer && p.Quiet {
		return out // nobody was told anything
	}
	if got.Status == 500 || got.Status == noAnswer {
		a = &answer{}
	}
	r.called(request{method: judge.SIPMethod, path: judge.SIPRoute, placeID: placeID, body: raw}, http.Header{}, "", sent, a)
	if err == nil && got.Status == noAnswer {
		err = fmt.Errorf("%w: no answer over SIP within %s", client.ErrUnavailable, sipcall.Wait)
	}
	sure(err)
	return out
}

// saysSuccess reports whether the step expects that the door opens, and nothing else.
func (p *Phone) saysSuccess() bool {
	if p.Reason.set() || p.Quiet || len(p.Status) > 0 && !slices.Equal(p.Status.codes(), []int{statusOfCall[string(vocab.Opened)]}) {
		return false
	}
	return p.Result.raw == string(vocab.Opened) || !p.Result.set() && p.Answered == nil
}

func (p *Phone) trunk() string {
	if p.Trunk == "" {
		return trunkFirst
	}
	return p.Trunk
}

// statusOfCall is the status of a call by what became of it.
var statusOfCall = map[string]int{string(vocab.Opened): 486, string(vocab.Denied): 603}

// resultOf is what the status of a call says: 480 isn't told apart, and others say that nothing was decided.
func resultOf(status int) fields {
	out := fields{"status": status, "answered": nil, "result": nil}
	switch status {
	case 486:
		out["answered"], out["result"] = true, string(vocab.Opened)
	case 603:
		out["answered"], out["result"] = true, string(vocab.Denied)
	case 480:
		out["answered"] = true
	case 404:
		out["answered"] = false
	}
	return out
}

// phone checks that the keys of a call go together.
func (c *checker) phone(p *Phone, pos Pos) {
	if !p.Over.set() {
		if p.Trunk != "" || p.Headers != nil || p.Times != nil || p.Status != nil || p.Quiet {
			c.b.Problem(pos, "trunk, headers, times, status and quiet are about a call over SIP: give over, udp or tcp, too")
		}
		return
	}
	if p.Reason.set() {
		c.b.Problem(p.Reason.pos, "a call over SIP isn't told the reason: leave reason out, and look at the records of the place")
	}
	if result, literal := p.Result.Literal(); literal && p.Result.set() && result != string(vocab.Opened) && result != string(vocab.Denied) {
		c.b.Problem(p.Result.pos, "a call over SIP is told offline, refused and noResponse alike: give status: 480 in place of result: %s", result)
	}
	if p.Quiet && (p.Status != nil || p.Result.set() || p.Answered != nil) {
		c.b.Problem(pos, "quiet expects that there is no answer: leave out status, result and answered")
	}
	for i := range p.Status {
		if f, ok := p.Status[i].literal(); ok && (f < 200 || f > 699 || f != float64(int(f))) {
			c.b.Problem(p.Status[i].pos, "status of a call over SIP must be a whole number from 200 to 699")
		}
	}
	c.count("times", p.Times, 1)
}
