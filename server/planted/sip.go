package planted

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"

	msg "github.com/emiago/sipgo/sip"

	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/sip"
)

// callsOver puts a bug into how calls over SIP are taken.
func callsOver(name string, c sip.Config) sip.Config {
	if name == "sip-limits-count-nothing" {
		c.Peers = append(c.Peers, netip.MustParsePrefix("127.77.0.0/16"))
	}
	c.Caller = &lines{Caller: c.Caller, name: name}
	c.Around = func(next sip.Answer) sip.Answer {
		return func(req *msg.Request) (int, string) { return misheard(name, req, next) }
	}
	return c
}

// lines has bugs of who calls whom.
type lines struct {
	sip.Caller
	name     string
	from, to atomic.Pointer[string] // of the last call that was answered
}

func (l *lines) Call(ctx context.Context, to, from string) (entry.CallResult, error) {
	switch abroad, foreign := strings.CutPrefix(from, "+"); {
	case l.name == "sip-foreign-number-is-domestic" && foreign:
		from = "0" + strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(abroad, "86"), "1"), "0")
	case l.name == "sip-withheld-number-is-the-caller-before" && from == "" && l.from.Load() != nil:
		from = *l.from.Load()
	}
	res, err := l.Caller.Call(ctx, to, from)
	if l.name == "sip-any-number-is-the-store" && !res.Answered && l.to.Load() != nil && *l.to.Load() != to {
		res, err = l.Caller.Call(ctx, *l.to.Load(), from)
	}
	if res.Answered {
		l.from.Store(&from)
		l.to.Store(&to)
	}
	return res, err
}

var (
	copies     atomic.Int64
	anyAddress = regexp.MustCompile(`(?:sip|tel):([0-9]+)`)
)

// misheard has bugs of how an INVITE is read, and of what its sender is told.
func misheard(name string, req *msg.Request, next sip.Answer) (status int, reason string) {
	from := req.From()
	switch name {
	case "sip-from-beats-the-trunk":
		req.RemoveHeader("P-Asserted-Identity")
	case "sip-privacy-ignored":
		req.RemoveHeader("Privacy")
	case "sip-name-taken-for-the-number":
		if m := anyAddress.FindStringSubmatch(from.DisplayName); m != nil {
			from.Address.User = m[1]
		}
	case "sip-international-caller-unknown":
		from.Address.User = strings.TrimPrefix(from.Address.User, "+")
	case "sip-international-number-unknown":
		req.Recipient.User = strings.TrimPrefix(req.Recipient.User, "+")
	case "sip-copies-are-calls":
		id := msg.CallIDHeader(fmt.Sprint(copies.Add(1)))
		req.ReplaceHeader(&id)
	case "sip-limits-count-nothing":
		n := copies.Add(1)
		req.SetSource(net.JoinHostPort(fmt.Sprintf("127.77.%d.%d", n/250%250, n%250), "5060"))
	case "sip-strangers-may-call":
		if host, port, _ := net.SplitHostPort(req.Source()); host != "127.0.0.2" {
			req.SetSource(net.JoinHostPort("127.0.0.1", port))
		}
	}
	switch status, reason = next(req); {
	case name == "sip-refusal-says-busy" && status == 603, name == "sip-failure-says-busy" && status == 480:
		return 486, "Busy Here"
	case name == "sip-calls-connect" && status == 486:
		return 200, "OK"
	case name == "sip-nobody-is-busy" && status == 404:
		return 603, "Decline"
	}
	return status, reason
}
