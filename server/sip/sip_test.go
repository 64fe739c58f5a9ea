package sip

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/entry"
)

type calls map[string]entry.CallResult

func (c calls) Call(_ context.Context, to, from string) (entry.CallResult, error) {
	return c[to+" "+from], nil
}

// TestCallsAreRejectedUnanswered speaks plain SIP over TCP: every outcome has its own status, and no call is ever
// connected.
func TestCallsAreRejectedUnanswered(t *testing.T) {
	t.Parallel()
	s := must.Get(Start(Config{Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Caller: calls{
		"05012345678 01011112222": {Answered: true, Result: "opened"},
		"05012345678 01033334444": {Answered: true, Result: "denied", Reason: "no_valid_grant"},
		"05012345678 01055556666": {Answered: true, Result: "offline"},
		"05012345678 ":            {Answered: true, Result: "denied", Reason: "no_valid_grant"},
	}}))(t)
	t.Cleanup(func() { _ = s.Stop() })
	for _, c := range []struct{ name, to, from, extra, want string }{
		{"opened", "05012345678", "01011112222", "", "SIP/2.0 486 Busy Here"},
		{"international", "+825012345678", "+821011112222", "", "SIP/2.0 486 Busy Here"},
		{"asserted", "05012345678", "anonymous", "P-Asserted-Identity: <sip:01011112222@carrier>\r\n", "SIP/2.0 486 Busy Here"},
		{"denied", "05012345678", "01033334444", "", "SIP/2.0 603 Decline"},
		{"offline", "05012345678", "01055556666", "", "SIP/2.0 480 Temporarily Unavailable"},
		{"nobody's number", "05099999999", "01011112222", "", "SIP/2.0 404 Not Found"},
		{"anonymous", "05012345678", "anonymous", "", "SIP/2.0 603 Decline"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := must.Get(net.Dial("tcp", s.Addr()))(t)
			defer func() { _ = conn.Close() }()
			local := conn.LocalAddr().String()
			fmt.Fprintf(conn, "INVITE sip:%[1]s@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP %[3]s;branch=z9hG4bK-%[4]s\r\nMax-Forwards: 70\r\n"+
				"From: <sip:%[2]s@127.0.0.1>;tag=1\r\nTo: <sip:%[1]s@127.0.0.1>\r\nCall-ID: %[4]s@test\r\nCSeq: 1 INVITE\r\n"+
				"Contact: <sip:%[2]s@%[3]s>\r\n%[5]sContent-Length: 0\r\n\r\n", c.to, c.from, local, strings.ReplaceAll(c.name, " ", ""), c.extra)
			r := bufio.NewReader(conn)
			for {
				line := must.Get(r.ReadString('\n'))(t)
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "SIP/2.0") && !strings.Contains(line, " 100 ") {
					if line != c.want {
						t.Errorf("got %q, want %q", line, c.want)
					}
					return
				}
			}
		})
	}
}
