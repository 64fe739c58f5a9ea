// Package sip takes phone calls over SIP. An INVITE to a place's entry phone from a customer's number is decided like
// any other attempt: the door opens, and the call is rejected unanswered, so that it costs nothing, see PERM-1. It is
// off unless an address is given. A caller id is a credential here, so only peers are trusted: the trunks that vouch
// for it. It declares the Caller that server/entry implements.
package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/emiago/sipgo"
	msg "github.com/emiago/sipgo/sip"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/entry"
)

// Caller decides a call and opens the door: server/entry.
type Caller interface {
	Call(ctx context.Context, to, from string) (entry.CallResult, error)
}

// Config of a Server.
type Config struct {
	Addr   string         // host:port, UDP and TCP
	Peers  []netip.Prefix // who may call; nil = this machine only
	Caller Caller
	Around func(Answer) Answer // what answers calls in place of the rules here, which it is given; nil = they do
	Failed func(error)         // called when listening ends by itself; nil = only logged
	Log    *slog.Logger
}

// Answer says how an INVITE is answered: never with a success, because the call must never connect.
type Answer func(req *msg.Request) (status int, reason string)

// region is that of national numbers.
const region = "KR"

// How many calls per minute a peer may make, and of these one caller; more are rejected. A caller's surplus doesn't count
// as the peer's: a number that is redialled all the time must not keep everybody else from calling.
const (
	peerCalls   = 600
	callerCalls = 60
)

// loopback is where peers are by default.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func init() { msg.SetDefaultLogger(silent) }

// silent swallows the library's own log, which prints malformed packets whole, phone numbers included.
var silent = slog.New(slog.DiscardHandler)

// Server listens for calls.
type Server struct {
	cfg  Config
	ua   *sipgo.UserAgent
	srv  *sipgo.Server
	udp  net.PacketConn
	tcp  net.Listener
	done context.CancelFunc
	ctx  context.Context
	seen *seen
	rate *limit.Window // by peer
	each *limit.Window // by peer and caller

	decide  Answer                   // as cfg.Around has it
	answers map[string]*atomic.Int64 // by kindOf
}

// Start listens on UDP and TCP. The error names an address that is taken.
func Start(cfg Config) (*Server, error) {
	if cfg.Peers == nil {
		cfg.Peers = loopback
	}
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	ua, err := sipgo.NewUA(sipgo.WithUserAgent("doorlab"), sipgo.WithUserAgentTransportLayerOptions(msg.WithTransportLayerLogger(silent)),
		sipgo.WithUserAgentTransactionLayerOptions(msg.WithTransactionLayerLogger(silent)))
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	srv, err := sipgo.NewServer(ua, sipgo.WithServerLogger(silent))
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	udp, tcp, err := bind(cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	s := &Server{cfg: cfg, ua: ua, srv: srv, udp: udp, tcp: tcp, seen: newSeen(), rate: limit.New(peerCalls, time.Minute), each: limit.New(callerCalls, time.Minute), answers: map[string]*atomic.Int64{}}
	for _, kind := range []string{"opened", "denied", "failed", "unanswered", "refused"} {
		s.answers[kind] = new(atomic.Int64)
	}
	s.ctx, s.done = context.WithCancel(context.Background())
	if s.decide = s.answer; cfg.Around != nil {
		s.decide = cfg.Around(s.answer)
	}
	srv.OnInvite(s.invite)
	srv.OnOptions(func(req *msg.Request, tx msg.ServerTransaction) {
		if s.known(req) {
			s.respond(req, tx, 200, "OK")
			return
		}
		s.respond(req, tx, 403, "Forbidden")
	})
	srv.OnAck(func(*msg.Request, msg.ServerTransaction) {})
	go s.serve("UDP", func() error { return srv.ServeUDP(&fromPeers{PacketConn: udp, peers: cfg.Peers}) })
	limits := listen.NewCap(maxConns, maxPerPeer).Strangers(func(a netip.Addr) bool { return !isPeer(a, cfg.Peers) })
	go s.serve("TCP", func() error { return srv.ServeTCP(patient{limits.On(tcp)}) })
	return s, nil
}

// serve runs a listener's loop and reports a failure if it ends before Stop.
func (s *Server) serve(what string, f func() error) {
	err := f()
	if s.ctx.Err() == nil {
		err = fmt.Errorf("sip: listening on %s ended: %w", what, cmp.Or(err, net.ErrClosed))
		s.cfg.Log.Error(err.Error())
		s.cfg.Failed(err)
	}
}

// known reports whether a request comes from a peer.
func (s *Server) known(req *msg.Request) bool {
	from, err := netip.ParseAddrPort(req.Source())
	return err == nil && isPeer(from.Addr(), s.cfg.Peers)
}

// bind takes the same port on UDP and TCP; with port 0 it tries until one is free on both.
func bind(addr string) (udp net.PacketConn, tcp net.Listener, err error) {
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

// Peers are those who may call.
func (s *Server) Peers() []netip.Prefix { return s.cfg.Peers }

// Stop ends listening; a door command in progress is completed.
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
	status, reason := s.decide(req)
	s.answers[kindOf(status)].Add(1)
	s.respond(req, tx, status, reason)
}

// answer makes the call, and says how the caller's telephone is answered. A panic ends this call and nothing else.
func (s *Server) answer(req *msg.Request) (status int, reason string) {
	defer func() {
		if v := recover(); v != nil {
			s.cfg.Log.Error("sip: a call caused a panic", "panic", v, "stack", string(debug.Stack()))
			status, reason = 500, "Server Internal Error"
		}
	}()
	if !s.known(req) { // reveals neither which numbers are places nor who is a customer
		return 403, "Forbidden"
	}
	if !s.seen.first(idOf(req), clock.Mono()) { // RFC 3261, 8.2.2.2
		return 482, "Loop Detected"
	}
	peer, _, _ := net.SplitHostPort(req.Source())
	from := s.national(callerID(req)) // "" for a caller who withholds it: the decision is made all the same, see ENT-2
	now := time.Unix(0, int64(clock.Mono()))
	if ok, _ := s.each.Allow(peer+" "+from, now); !ok {
		return 503, "Service Unavailable"
	}
	if ok, _ := s.rate.Allow(peer, now); !ok {
		return 503, "Service Unavailable"
	}
	to := s.national(userOf(req.Recipient.String()))
	res, err := s.cfg.Caller.Call(s.ctx, to, from)
	if err != nil {
		s.cfg.Log.Error("sip: call failed", "error", err)
		return 500, "Server Internal Error"
	}
	return statusOf(res)
}

// Answers counts the calls by kind of answer. The map doesn't change.
func (s *Server) Answers() map[string]*atomic.Int64 { return s.answers }

// kindOf is the kind of answer that a status is.
func kindOf(status int) string {
	switch status {
	case 486:
		return "opened"
	case 603:
		return "denied"
	case 480, 500:
		return "failed"
	case 404:
		return "unanswered"
	}
	return "refused"
}

// statusOf is the result of the call as the caller's telephone gets it. None means success: the call must never connect.
// Busy means that the door opens.
func statusOf(r entry.CallResult) (status int, reason string) {
	switch {
	case !r.Answered:
		return 404, "Not Found"
	case r.Result == vocab.Opened:
		return 486, "Busy Here"
	case r.Result == vocab.Denied:
		return 603, "Decline"
	}
	return 480, "Temporarily Unavailable" // offline, refused, noResponse: again in a while
}

func (s *Server) respond(req *msg.Request, tx msg.ServerTransaction, status int, reason string) {
	if err := tx.Respond(msg.NewResponseFromRequest(req, status, reason, nil)); err != nil {
		s.cfg.Log.Warn("sip: answer not sent", "status", status, "error", err)
	}
}
