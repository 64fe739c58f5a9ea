package testbed

import (
	"bufio"
	"errors"
	"io"
	"net/http"

	"github.com/doorlab/doorlab/internal/control"
)

// Kill ends the server as the death of its process would, and starts it again on the same data. Callers find their
// connections closed. It returns when the boards are back.
func (t *Testbed) Kill() error { return t.next(t.life.Load(), true) }

// CrashAt makes the server die when the next command passes point (see command.CrashPoints), and start again. It
// doesn't wait for that: see Lives. Error: an unknown point, or the server is restarting.
func (t *Testbed) CrashAt(point string) error {
	l := t.life.Load()
	if l == nil {
		return errRestarting
	}
	return l.server.CrashAt(point, func() {
		l.dead.Store(true)
		go func() { _ = t.next(l, true) }() // an error is reported there
	})
}

// Lives is how many times the server has started. It increases when the boards are back, or have had their time to come
// back.
func (t *Testbed) Lives() int64 { return t.lives.Load() }

// end ends a server's life, either like the death of its process, or properly.
func (l *life) end(kill bool) error {
	if !kill {
		return l.server.Stop()
	}
	l.dead.Store(true)
	return l.server.Kill()
}

// mortal serves requests while the server lives: when it is killed, waiting callers find their connection closed,
// without an answer.
func (l *life) mortal(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&lastWords{w, l}, r)
		if l.dead.Load() {
			panic(http.ErrAbortHandler)
		}
	})
}

// lastWords drops what a dead server would write.
type lastWords struct {
	http.ResponseWriter
	l *life
}

func (w *lastWords) WriteHeader(status int) {
	if !w.l.dead.Load() {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *lastWords) Write(b []byte) (int, error) {
	if w.l.dead.Load() {
		return 0, http.ErrAbortHandler
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController through.
func (w *lastWords) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// postRestart is POST /restart {kill?, at?}.
func (t *Testbed) postRestart(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Kill bool   `json:"kill"`
		At   string `json:"at"`
	}
	body := bufio.NewReader(r.Body)
	if _, err := body.Peek(1); err != io.EOF { // no body means neither; its length isn't always announced
		r.Body = io.NopCloser(body)
		if !control.Body(w, r, &b) {
			return
		}
	}
	if b.At != "" {
		if !b.Kill {
			control.FailField(w, "at", `is for {"kill": true} only`)
			return
		}
		switch err := t.CrashAt(b.At); {
		case errors.Is(err, errRestarting):
			restarting(w)
			return
		case err != nil:
			control.FailField(w, "at", err.Error())
			return
		}
		control.Data(w, map[string]any{"armed": b.At, "lives": t.Lives()})
		return
	}
	end := t.Restart
	if b.Kill {
		end = t.Kill
	}
	switch err := end(); {
	case errors.Is(err, errRestarting): // somebody else's restart came first
		restarting(w)
		return
	case err != nil:
		control.Fail(w, http.StatusInternalServerError, "internal_error", "the server did not come back: "+err.Error(), nil)
		return
	}
	control.Data(w, map[string]any{"restarted": true, "lives": t.Lives()})
}

func restarting(w http.ResponseWriter) {
	control.Fail(w, http.StatusConflict, "rule_violated", "the server is restarting already; ask again when it is back", nil)
}

// getRestart is GET /restart: how often the server has started.
func (t *Testbed) getRestart(w http.ResponseWriter, _ *http.Request) {
	control.Data(w, map[string]any{"lives": t.Lives()})
}

// deleteRestart is DELETE /restart: it disarms a crash point that no command has reached.
func (t *Testbed) deleteRestart(w http.ResponseWriter, _ *http.Request) {
	if l := t.life.Load(); l != nil {
		l.server.Disarm()
	}
	control.Data(w, map[string]any{"lives": t.Lives()})
}
