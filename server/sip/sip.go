// Package sip takes phone calls over SIP: an INVITE to a place's entry phone
// from a customer's number is decided like any other attempt, the door opens,
// and the call is rejected unanswered, so that nobody pays [PERM-1]. Off unless
// an address is given. It declares the Caller that server/entry implements;
// only the composition (server) imports it.
package sip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/emiago/sipgo"
	msg "github.com/emiago/sipgo/sip"
	"github.com/nyaruka/phonenumbers"

	"github.com/doorlab/doorlab/server/entry"
)

// Caller decides a call and opens the door: server/entry.
type Caller interface {
	Call(ctx context.Context, to, from string) (entry.CallResult, error)
}

// Config of a Server.
type Config struct {
	Addr   string // host:port, UDP and TCP
	Region string // of national numbers; "" = KR
	Caller Caller
	Log    *slog.Logger
}

// Server listens for calls.
type Server struct {
	cfg  Config
	ua   *sipgo.UserAgent
	srv  *sipgo.Server
	udp  net.PacketConn
	tcp  net.Listener
	done context.CancelFunc
	ctx  context.Context
}

// Start listens on UDP and TCP. The error says which address is taken.
func Start(cfg Config) (*Server, error) {
	if cfg.Region == "" {
		cfg.Region = "KR"
	}
	ua, err := sipgo.NewUA(sipgo.WithUserAgent("doorlab"))
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	srv, err := sipgo.NewServer(ua)
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	udp, tcp, err := listen(cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	s := &Server{cfg: cfg, ua: ua, srv: srv, udp: udp, tcp: tcp}
	s.ctx, s.done = context.WithCancel(context.Background())
	srv.OnInvite(s.invite)
	srv.OnOptions(func(req *msg.Request, tx msg.ServerTransaction) { s.respond(req, tx, 200, "OK") })
	srv.OnAck(func(*msg.Request, msg.ServerTransaction) {})
	go func() { _ = srv.ServeUDP(udp) }()
	go func() { _ = srv.ServeTCP(tcp) }()
	return s, nil
}

// listen takes one port on UDP and TCP; port 0 tries until one is free on both.
func listen(addr string) (udp net.PacketConn, tcp net.Listener, err error) {
	_, port, _ := net.SplitHostPort(addr)
	for range 20 {
		if udp, err = net.ListenPacket("udp", addr); err != nil {
			return nil, nil, err
		}
		if tcp, err = net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			return udp, tcp, nil
		}
		_ = udp.Close()
		if port != "0" {
			break
		}
	}
	return nil, nil, err
}

// Addr is where it listens.
func (s *Server) Addr() string { return s.udp.LocalAddr().String() }

// Stop ends listening; a door command under way is carried to its end.
func (s *Server) Stop() error {
	s.done()
	return errors.Join(s.srv.Close(), s.udp.Close(), ignoreClosed(s.tcp.Close()), s.ua.Close())
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s *Server) invite(req *msg.Request, tx msg.ServerTransaction) {
	to := s.national(req.Recipient.User)
	from := s.national(callerID(req))
	if from == "" {
		s.respond(req, tx, 433, "Anonymity Disallowed")
		return
	}
	res, err := s.cfg.Caller.Call(s.ctx, to, from)
	if err != nil {
		s.cfg.Log.Error("sip: call failed", "err", err)
		s.respond(req, tx, 500, "Server Internal Error")
		return
	}
	status, reason := Status(res)
	s.respond(req, tx, status, reason)
}

// Status tells a caller's telephone what became of the call. No answer is a
// success: the call must never connect. Busy is the door opening.
func Status(r entry.CallResult) (status int, reason string) {
	switch {
	case !r.Answered:
		return 404, "Not Found"
	case r.Result == "opened":
		return 486, "Busy Here"
	case r.Result == "denied":
		return 603, "Decline"
	}
	return 480, "Temporarily Unavailable" // offline, refused, noResponse: again in a while
}

func (s *Server) respond(req *msg.Request, tx msg.ServerTransaction, status int, reason string) {
	if err := tx.Respond(msg.NewResponseFromRequest(req, status, reason, nil)); err != nil {
		s.cfg.Log.Warn("sip: answer not sent", "status", status, "err", err)
	}
}

// callerID is the number the network vouches for, else the one of From; "" for an anonymous caller.
func callerID(req *msg.Request) string {
	if h := req.GetHeader("P-Asserted-Identity"); h != nil {
		if user := userOf(h.Value()); user != "" {
			return user
		}
	}
	from := req.From()
	if from == nil || strings.EqualFold(from.Address.User, "anonymous") || strings.EqualFold(from.Address.Host, "anonymous.invalid") {
		return ""
	}
	return from.Address.User
}

// userOf is the user part of the first sip: or tel: URI in a header value.
func userOf(v string) string {
	for _, scheme := range []string{"sips:", "sip:", "tel:"} {
		if _, rest, ok := strings.Cut(v, scheme); ok {
			return rest[:len(rest)-len(strings.TrimLeft(rest, "+0123456789-."))]
		}
	}
	return ""
}

// national is a number as permits hold it: digits only, national format. "" for anything that is no number.
func (s *Server) national(user string) string {
	user, _, _ = strings.Cut(user, ";")
	if strings.HasPrefix(user, "+") {
		n, err := phonenumbers.Parse(user, s.cfg.Region)
		if err != nil {
			return ""
		}
		user = phonenumbers.Format(n, phonenumbers.NATIONAL)
	}
	var b strings.Builder
	for _, c := range user {
		switch {
		case c >= '0' && c <= '9':
			b.WriteRune(c)
		case strings.ContainsRune("-. ()", c):
		default:
			return ""
		}
	}
	return b.String()
}
