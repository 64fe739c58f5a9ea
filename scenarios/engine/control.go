package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// lab is the client for the control API of one or several listeners: calls about boards, faults and people at doors go
// to the listener with the board, others to the server's.
type lab struct {
	http  *http.Client
	token map[string]string // by listener
	all   []string
	main  string   // the server's
	fleet []string // those with boards

	mode string // of the clock
	sip  sipOf

	revive time.Duration // how long a restart may take
	gone   error         // why the target isn't waited for any more: it was down for that long

	watch *run               // notified of changes
	marks []history.Position // of each of all: where in its recording the run begins; nil = the target is the run's own
}

// clockView is what GET /clock says.
type clockView struct {
	Now   time.Time `json:"now"`
	Mode  string    `json:"mode"`
	State string    `json:"state"`

	Abandoned int64 `json:"abandoned"` // messages that jumps gave up so far
}

// labConns bounds the open connections to one control listener. A process with 1,024 descriptors accepts 32 from all
// its clients, and resets the rest.
const labConns = 20

func newLab(t Target) *lab {
	wire := transport(nil, t.TLS)
	wire.MaxConnsPerHost = labConns
	l := &lab{http: &http.Client{Transport: wire}, token: map[string]string{}, all: t.Control, marks: t.Marks}
	for i, base := range t.Control {
		l.token[base] = t.Token(i)
	}
	return l
}

// call makes one request; unless raw, an answer other than 200 is an error.
func (l *lab) call(ctx context.Context, base, method, path string, body any) (*answer, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("control %s %s: the body: %w", method, path, err)
		}
	}
	h := jsonHeader()
	h.Set("Authorization", "Bearer "+l.token[base])
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if err := l.watch.beforeLab(ctx, method, path); err != nil {
		return nil, err
	}
	l.watch.phones.learn(raw)
	sent := l.watch.sendNow()
	a, err := send(ctx, l.http, method, base+control.Prefix+path, h, raw)
	traceCall(ctx, method, base+control.Prefix+path, raw, a, err)
	if err == nil {
		l.watch.madeLab(base, method, path, body, sent, a)
	}
	return a, err
}

// restartTime is how long a restart of the server is waited for, in wall time.
const restartTime = 10 * time.Second

// patient is call, again and again while the server is restarting: a file may have killed it just before. Only then is
// Retry-After given, and nothing was done; after any other 503 a request that creates something must not be repeated.
func (l *lab) patient(ctx context.Context, base, method, path string, body any) (*answer, error) {
	for end := clock.Mono() + restartTime; ; {
		a, err := l.call(ctx, base, method, path, body)
		if err != nil || a.Status != http.StatusServiceUnavailable || a.Headers["Retry-After"] == "" || clock.Mono() >= end {
			return a, err
		}
		if err := client.Pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// ask is call for a request that must succeed, decoded into out.
func (l *lab) ask(ctx context.Context, base, method, path string, body, out any) error {
	a, err := l.patient(ctx, base, method, path, body)
	if err != nil {
		return err
	}
	return l.read(a, method, path, out)
}

// read decodes the data of an answer that must be a success; out nil = ignored.
func (l *lab) read(a *answer, method, path string, out any) error {
	if a.Status != http.StatusOK {
		return refused(a, method, path)
	}
	if out == nil {
		return nil
	}
	var env struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(a.Raw, &env); err != nil {
		return fmt.Errorf("control %s %s: %w", method, path, err)
	}
	return json.Unmarshal(env.Data, out)
}

// refused is the error for an unsuccessful answer. 503 means that the server is down between two processes, so it isn't
// an answer to the request.
func refused(a *answer, method, path string) error {
	if a.Status == http.StatusServiceUnavailable {
		return fmt.Errorf("control %s %s: %w: %s", method, path, client.ErrUnavailable, a.short())
	}
	return fmt.Errorf("control %s %s: %s", method, path, a.short())
}

// remove is takeBack over the control API.
func (l *lab) remove(ctx context.Context, base, path string) error {
	a, err := l.patient(ctx, base, http.MethodDelete, path, nil)
	if err != nil || a.Status == http.StatusNotFound {
		return err
	}
	return l.read(a, http.MethodDelete, path, nil)
}

// discover finds out which listener has what.
func (l *lab) discover(ctx context.Context) error {
	for _, base := range l.all {
		a, err := l.call(ctx, base, http.MethodGet, "/boards?limit=1", nil)
		if err != nil {
			return err
		}
		switch a.Status {
		case http.StatusOK:
			l.fleet = append(l.fleet, base)
		case http.StatusNotFound:
			l.main = base
		default:
			return fmt.Errorf("control %s: %s", base, a.short())
		}
	}
	if l.main == "" && len(l.all) > 0 {
		l.main = l.all[0]
	}
	c, err := l.clock(ctx)
	if err == nil {
		l.mode = c.Mode
	}
	return err
}

// boards reads all boards, and which listener has each.
func (l *lab) boards(ctx context.Context) (out []control.Board, owner map[string]string, err error) {
	owner = map[string]string{}
	for _, base := range l.fleet {
		for offset, total := 0, 1; offset < total; {
			a, err := l.call(ctx, base, http.MethodGet, fmt.Sprintf("/boards?limit=500&offset=%d", offset), nil)
			if err != nil {
				return nil, nil, err
			}
			var page struct {
				Data  []control.Board `json:"data"`
				Total int             `json:"total"`
			}
			if a.Status != http.StatusOK || json.Unmarshal(a.Raw, &page) != nil {
				return nil, nil, refused(a, http.MethodGet, "/boards")
			}
			for _, b := range page.Data {
				owner[b.BoardID] = base
			}
			out = append(out, page.Data...)
			total = page.Total
			if offset += len(page.Data); len(page.Data) == 0 {
				break
			}
		}
	}
	return out, owner, nil
}

// journalLine is one line of ground truth.
type journalLine = map[string]any

func (l *lab) journal(ctx context.Context, base, boardID string) (lines []journalLine, err error) {
	err = l.ask(ctx, base, http.MethodGet, "/boards/"+url.PathEscape(boardID)+"/journal", nil, &lines)
	return lines, err
}

// clients has one client per listener.
func (l *lab) clients() []client.Client {
	return each.Of(l.all, func(base string) client.Client { return client.Client{Base: base, Token: l.token[base], HTTP: l.http} })
}

// history fetches the events of every listener; on a shared target also the state that the run found at each.
func (l *lab) history(ctx context.Context) (bases, out [][]history.Event, err error) {
	for i, c := range l.clients() {
		before, events, err := c.HistoryFrom(ctx, l.marks, i)
		if err != nil {
			return bases, out, err
		}
		bases, out = append(bases, before), append(out, events)
	}
	return bases, out, nil
}
