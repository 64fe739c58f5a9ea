package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/scenarios/expression"
	"github.com/google/uuid"
)

// undo is what a file has to restore on a shared target: the state before its first change of each thing, and what it
// created. Files in worlds of their own have nothing to undo.
type undo struct {
	mu   sync.Mutex
	seen map[string]bool
	back []func(ctx context.Context) error // in the order of the changes
	away []func(ctx context.Context) error // boards to attach before anything else, which may need them
}

// add remembers how to undo something, once per name.
func (u *undo) add(name string, back func(ctx context.Context) error) {
	u.remember(&u.back, name, back)
}

func (u *undo) remember(in *[]func(ctx context.Context) error, name string, back func(ctx context.Context) error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.seen[name] {
		each.Put(&u.seen, name, true)
		*in = append(*in, back)
	}
}

func (u *undo) has(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[name]
}

// putBack undoes everything, the last change first; it continues after errors, and tries once more what failed.
func (r *run) putBack(ctx context.Context) error {
	r.undo.mu.Lock()
	back, away := r.undo.back, r.undo.away
	r.undo.back, r.undo.away, r.undo.seen = nil, nil, nil
	r.undo.mu.Unlock()
	slices.Reverse(back)
	r.undoing.Store(true)
	defer r.undoing.Store(false)
	var first error
	all := func(list []func(context.Context) error) (left []func(context.Context) error) {
		first = nil
		for _, f := range list {
			if err := f(ctx); err != nil {
				left, first = append(left, f), cmp.Or(first, err)
			}
		}
		return left
	}
	left := all(away)
	if len(away) > 0 {
		_ = r.synced(ctx, nil, catchUp) // whatever fails because a board isn't back says so
	}
	left = append(left, all(back)...)
	all(left) // again: one may have needed what came after it
	return first
}

// watches reports whether changes have to be remembered.
func (r *run) watches(method string) bool {
	return (r.target.Shared() || r.keysOnly()) && method != http.MethodGet && !r.undoing.Load()
}

// What can be restored: routes whose current state is read before a change.
var (
	labPlace    = regexp.MustCompile(`^/places/([^/?]+)$`)
	labDoor     = regexp.MustCompile(`^/doors/([^/?]+)$`)
	labGrant    = regexp.MustCompile(`^/(?:memberships|reservations)/[^?]+\?placeId=(.+)$`)
	labDetach   = regexp.MustCompile(`^/boards/([^/?]+)/detach$`)
	labTell     = regexp.MustCompile(`^/boards/([^/?]+)/tell$`)
	placeHours  = regexp.MustCompile(`^/core/v1/places/([^/?]+)$`)
	doorWindows = regexp.MustCompile(`^/device/v1/doors/([^/?]+)/policies`)
	boardPolicy = regexp.MustCompile(`^/device/v1/boards/([^/?]+)/netloss$`)
)

// idIn is the id in a path of some form, "" if the path has another form.
func idIn(form *regexp.Regexp, path string) string {
	if m := form.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}

// beforeLab remembers what a control API call is about to change.
func (r *run) beforeLab(ctx context.Context, method, path string) error {
	if !r.watches(method) {
		return nil
	}
	if place := cmp.Or(idIn(labPlace, path), r.dir.placeOf(idIn(labDoor, path))); place != "" {
		return r.keepPlace(ctx, place)
	}
	b := r.dir.board(idIn(labTell, path))
	if b == nil || b.real {
		return nil
	}
	r.attachLater(b.owner, b.id)                    // even a call that fails may have begun it
	return r.keepOutagePolicy(ctx, b.id, b.placeID) // which attaching wipes
}

// before remembers what a public API call is about to change.
func (r *run) before(ctx context.Context, q request) error {
	if !r.watches(q.method) {
		return nil
	}
	place, door, board := idIn(placeHours, q.path), idIn(doorWindows, q.path), idIn(boardPolicy, q.path)
	switch {
	case place != "" && r.lab == nil:
		return r.keepHours(ctx, place)
	case place != "":
		return r.keepPlace(ctx, place)
	case door != "" && r.dir.door(door) != nil:
		return r.keepWindows(ctx, door, r.dir.placeOf(door))
	case board != "" && r.dir.board(board) != nil:
		return r.keepOutagePolicy(ctx, board, r.dir.board(board).placeID)
	}
	return nil
}

// must makes a request of the public API that has to succeed.
func (r *run) must(ctx context.Context, placeID, method, path string, body any) error {
	_, err := r.read(ctx, placeID, method, path, body)
	return err
}

// takeBack ends something that the run created. It is fine if it is gone already because it was too old to be kept.
func (r *run) takeBack(ctx context.Context, placeID, path string, body any) error {
	a, err := r.read(ctx, placeID, http.MethodPost, path, body)
	if a != nil && a.Status == http.StatusNotFound {
		return nil
	}
	return err
}

func (r *run) read(ctx context.Context, placeID, method, path string, body any) (*answer, error) {
	a, err := r.post(ctx, method, path, placeID, body)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%s %s: %s", method, path, a.short())
	}
	return a, err
}

// closing ends a hold.
func (r *run) closing(door, placeID string) (q request, err error) {
	q = request{method: http.MethodPost, path: "/device/v1/devices/" + esc(door) + "/commands", placeID: placeID, keyName: uuid.NewString(),
		body: []byte(`{"capability":"door","command":"close"}`)}
	q.apiKey, err = r.dir.key(placeID)
	return q, err
}

// guaranteed reports whether guarantees depend on what a control API call changes, in every world: a door's settings,
// a new membership or reservation. place is the place that it changes, "" if that isn't known.
func (r *run) guaranteed(path string, in map[string]any) (place string, ok bool) {
	if id := idIn(labDoor, path); id != "" {
		return r.dir.placeOf(id), true
	}
	place, _ = in["placeId"].(string)
	return place, path == "/memberships" || path == "/reservations"
}

// madeLab remembers what a control API call created. Its possible changes of a place go into the history, so that they
// aren't attributed to others.
func (r *run) madeLab(base, method, path string, body any, sent sending, a *answer) {
	r.keyLife(method, path, sent, a)
	if method == http.MethodGet {
		return
	}
	in, _ := body.(map[string]any)
	raw, _ := json.Marshal(body)
	q := request{method: method, path: control.Prefix + path, body: raw}
	var guaranteed bool
	if q.placeID, guaranteed = r.guaranteed(path, in); guaranteed {
		r.called(q, http.Header{}, "", sent, a)
	}
	if !r.target.Shared() {
		return
	}
	switch {
	case labPlace.MatchString(path):
		q.placeID = labPlace.FindStringSubmatch(path)[1]
		r.called(q, http.Header{}, "", sent, a)
	case labGrant.MatchString(path):
		q.placeID, _ = url.QueryUnescape(labGrant.FindStringSubmatch(path)[1])
		r.called(q, http.Header{}, "", sent, a)
	case path == "/people/present":
		r.called(q, http.Header{}, "", sent, a)
	}
	if !r.watches(method) || a.Status != http.StatusOK {
		return
	}
	remove := func(id, path string) {
		r.undo.add(id, func(ctx context.Context) error { return r.lab.remove(ctx, base, path) })
	}
	end := func(name, path string, body any) {
		r.undo.add(name, func(ctx context.Context) error { return r.lab.ask(ctx, base, http.MethodPost, path, body, nil) })
	}
	switch {
	case path == "/keys":
		id := a.text("data", "keyId")
		remove(id, "/keys/"+esc(id))
	case path == "/memberships", path == "/reservations":
		id := cmp.Or(a.text("data", "membershipId"), a.text("data", "reservationId"))
		remove(id, path+"/"+esc(id)+"?placeId="+esc(expression.Show(in["placeId"])))
	case path == "/people/leaf" && in["action"] != "close":
		end("leaf "+expression.Show(in["doorId"]), path, map[string]any{"doorId": in["doorId"], "action": "close"})
	case labDetach.MatchString(path):
		r.attachLater(base, labDetach.FindStringSubmatch(path)[1])
	}
}

// attachLater remembers to bring a simulated board back.
func (r *run) attachLater(base, id string) {
	path := "/boards/" + id + "/attach"
	r.undo.remember(&r.undo.away, path, func(ctx context.Context) error { return r.lab.ask(ctx, base, http.MethodPost, path, nil, nil) })
}

// made remembers what a public API call created: permits, reservations and memberships.
func (r *run) made(q request, a *answer) {
	if !r.watches(q.method) || a.Status != http.StatusOK || q.placeID == "" {
		return
	}
	place := q.placeID
	lab := func(id, path string) {
		if r.lab == nil { // a key can't
			return
		}
		r.undo.add(id, func(ctx context.Context) error {
			return r.lab.remove(ctx, r.lab.main, path+esc(id)+"?placeId="+esc(place))
		})
	}
	switch path, _, _ := strings.Cut(q.path, "?"); {
	case path == permitsPath:
		id := a.text("data", "permitId")
		r.undo.add(id, func(ctx context.Context) error {
			return r.takeBack(ctx, place, path+"/revoke", map[string]any{"permitId": id})
		})
	case path == "/space/v1/reservations" && r.lab == nil:
		id := a.text("data", "reservationId")
		r.undo.add(id, func(ctx context.Context) error {
			return r.takeBack(ctx, place, path+"/"+esc(id)+"/cancel", nil)
		})
	case path == "/space/v1/reservations":
		lab(a.text("data", "reservationId"), "/reservations/")
	case path == "/space/v1/memberships/import":
		rows, _ := a.value("data", "results").([]any)
		for _, row := range rows {
			if m, _ := row.(map[string]any); m["status"] == "created" {
				lab(expression.Show(m["id"]), "/memberships/")
			}
		}
	}
}

// held remembers a door that a command may hold from now on: unless a 4xx says that nothing was done, the board may have
// done it, whether anybody heard of it or not.
func (r *run) held(q request, a *answer) {
	m := commandPath.FindStringSubmatch(q.path)
	if m == nil || !r.watches(q.method) || q.placeID == "" || a != nil && a.Status/100 == 4 {
		return
	}
	if m[4] != "hold" && !strings.Contains(string(q.body), `"hold"`) {
		return
	}
	r.closeLater(m[2]+m[3], q.placeID)
}

// loaded is emit for a load's events: it remembers the doors that the load holds.
func (r *run) loaded(e history.Event) {
	if e.Kind == history.Attempt && strings.Contains(e.Meaning, " hold ") && r.watches(http.MethodPost) {
		r.closeLater(e.DoorID, e.PlaceID)
	}
	r.emit(e)
}

// closeLater remembers to end a door's hold.
func (r *run) closeLater(door, placeID string) {
	r.undo.add("held "+door, func(ctx context.Context) error {
		q, err := r.closing(door, placeID)
		if err != nil {
			return err
		}
		a, err := r.do(ctx, q)
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("door %s may still be held: closing it: %s", door, a.short())
		}
		return err
	})
}
