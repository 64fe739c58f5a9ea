package listen

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/loopback"
)

// Limits of an HTTP server, in wall time.
const (
	HeaderTimeout = 5 * time.Second
	bodyTimeout   = 10 * time.Second
	importTimeout = 30 * time.Second // of the body of an import
	answerTimeout = 15 * time.Second // of one write, from the moment the answer is ready
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	headerSlack   = 4 << 10  // net/http adds it to the limit
	maxUnread     = 16 << 20 // of a body that nothing reads
)

// Server returns an HTTP server with limits: headers at most 16 KiB and 5 s, bodies 10 s (imports 30 s). An answer has
// its own deadline, which begins when it is ready, however long the upload or the work took. A refused body is still
// read, up to 16 MiB, because a client that is still sending when the connection ends gets a reset instead of the
// answer. Serve runs the server.
func Server(h http.Handler) *http.Server {
	return &http.Server{Handler: bounded(h), DisableGeneralOptionsHandler: true, ReadHeaderTimeout: HeaderTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader - headerSlack, ConnContext: withConn}
}

func bounded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ambiguous(r) {
			w.Header().Set("Connection", "close")
			refuse(w, http.StatusBadRequest, "invalid_body", "the length of the request can be read in two ways: send Content-Length or Transfer-Encoding, not both")
			return
		}
		if r.RequestURI == "*" { // net/http has answers of its own for this one
			refuse(w, http.StatusNotFound, "not_found", "no such path: *")
			return
		}
		rc := http.NewResponseController(w)
		var sent *body
		if r.ContentLength != 0 {
			d := bodyTimeout
			if strings.HasSuffix(r.URL.Path, "/import") {
				d = importTimeout
			}
			_ = rc.SetReadDeadline(clock.WallNow().Add(d))
			sent = &body{ReadCloser: r.Body, rc: rc, waits: r.Header.Get("Expect") != ""}
			r.Body = sent
		}
		_ = rc.SetWriteDeadline(time.Time{}) // clear the previous answer's on this connection
		a := &answering{ResponseWriter: w, rc: rc}
		defer a.arm() // what is still buffered
		h.ServeHTTP(a, r)
		if sent != nil && !sent.waits {
			_, _ = io.CopyN(io.Discard, sent, maxUnread)
		}
	})
}

// body removes the read deadline once everything has arrived: it would cut short the wait for a door.
type body struct {
	io.ReadCloser
	rc    *http.ResponseController
	waits bool // the client sends nothing before the body is read (Expect: 100-continue)
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.waits = false
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// answering gives every write a deadline.
type answering struct {
	http.ResponseWriter
	rc *http.ResponseController
}

func (a *answering) arm() { _ = a.rc.SetWriteDeadline(clock.WallNow().Add(answerTimeout)) }

// WriteHeader implements http.ResponseWriter.
func (a *answering) WriteHeader(status int) {
	a.arm()
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answering) Write(p []byte) (int, error) {
	a.arm()
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController through.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// LoopbackHosts refuses requests for any host other than this machine, so that a stranger's page whose name resolves
// here (DNS rebinding) can read nothing. addr is the listener's; if it isn't loopback, every name is accepted.
func LoopbackHosts(addr net.Addr, h http.Handler) http.Handler {
	if ap, err := netip.ParseAddrPort(addr.String()); err != nil || !ap.Addr().Unmap().IsLoopback() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.Host(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "misdirected_request", "this listener answers to loopback host names only: localhost, 127.0.0.1, [::1]")
			return
		}
		h.ServeHTTP(w, r)
	})
}
