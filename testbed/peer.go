package testbed

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/world"
)

// peer is the server of a fleet in another process. Boards don't know which revision they should have, so GET /boards
// asks the server's control API. Without a server, the applied revision is shown.
type peer struct {
	placeOf map[string]string
	http    *http.Client
	flight  *clock.Flight // of the fleet

	mu        sync.Mutex
	server    *client.Client
	revisions map[string]int64 // by place
	stale     bool             // the server didn't answer the last question for them
}

// peerTimeout bounds how long GET /boards waits for the server.
const peerTimeout = 2 * time.Second

func newPeer(w *world.World, trust *tls.Config, flight *clock.Flight) *peer {
	p := &peer{placeOf: map[string]string{}, http: client.Trusting(trust), flight: flight}
	for _, pl := range w.Places {
		for _, b := range pl.Boards {
			p.placeOf[b.ID] = pl.ID
		}
	}
	return p
}

// desired is the revision of the board's place, 0 if no server is known.
func (p *peer) desired(boardID string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revisions[p.placeOf[boardID]]
}

// isStale is whether the server left the last question about revisions unanswered.
func (p *peer) isStale() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stale
}

// seat is what the server knows about a board now; nothing without a server.
func (p *peer) seat(boardID string) (out boardsim.Seat) {
	p.mu.Lock()
	server := p.server
	p.mu.Unlock()
	if server == nil {
		return out
	}
	ctx, cancel := context.WithTimeout(context.Background(), peerTimeout)
	defer cancel()
	if err := server.Do(ctx, http.MethodGet, control.Prefix+"/seats/"+url.PathEscape(boardID), nil, &out); err != nil {
		return boardsim.Seat{}
	}
	return out
}

// fresh asks the server before a request that shows boards.
func (p *peer) fresh(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			p.ask(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

func (p *peer) ask(ctx context.Context) {
	p.mu.Lock()
	server := p.server
	p.mu.Unlock()
	if server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	var got map[string]int64
	err := server.Do(ctx, http.MethodGet, control.Prefix+"/revisions", nil, &got)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stale = err != nil; !p.stale { // else its last answer is shown, as stale
		p.revisions = got
	}
}

// know tells the fleet where its server's control API is.
func (p *peer) know(base, token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = &client.Client{Base: base, Token: token, HTTP: p.http}
}

// route mounts POST /server {control, token}, which check uses to introduce the two, and
// POST /clock/settle, which it calls before a jump.
func (p *peer) route(r chi.Router) {
	r.Post("/clock/settle", p.settle)
	r.Post("/server", func(w http.ResponseWriter, r *http.Request) {
		var b struct {
			Control string `json:"control"`
			Token   string `json:"token"`
		}
		if !control.Body(w, r, &b) {
			return
		}
		u, err := url.Parse(b.Control)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
			control.FailField(w, "control", "must be the URL of the server's control API, such as http://127.0.0.1:8081")
			return
		}
		p.know(b.Control, b.Token)
		control.Data(w, map[string]string{"control": b.Control})
	})
}
