package engine

import (
	"context"
	"net/http"
	"slices"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// keepPlace reads an operator's settings of a place and its doors.
func (r *run) keepPlace(ctx context.Context, id string) error {
	name := "place " + id
	if r.undo.has(name) {
		return nil
	}
	var was map[string]any
	a, err := r.lab.call(ctx, r.lab.main, http.MethodGet, "/places/"+esc(id), nil)
	if err != nil || a.Status == http.StatusNotFound { // not a place: nothing will change
		return err
	}
	if err := r.lab.read(a, http.MethodGet, "/places/"+id, &was); err != nil {
		return err
	}
	r.undo.add(name, func(ctx context.Context) error {
		set := map[string]any{}
		for _, k := range []string{"entryPhone", "phoneEnabled", "closures", "holidays", "timezone"} {
			set[k] = was[k]
		}
		if err := r.lab.ask(ctx, r.lab.main, http.MethodPatch, "/places/"+esc(id), set, nil); err != nil {
			return err
		}
		doors, _ := was["doors"].([]any)
		for _, d := range doors {
			door, _ := d.(map[string]any)
			set := map[string]any{"entry": door["entry"], "entryPermitMaxHours": door["entryPermitMaxHours"]}
			if err := r.lab.ask(ctx, r.lab.main, http.MethodPatch, "/doors/"+esc(expression.Show(door["doorId"])), set, nil); err != nil {
				return err
			}
		}
		return r.must(ctx, id, http.MethodPatch, "/core/v1/places/"+esc(id), map[string]any{"hours": was["hours"]})
	})
	return nil
}

// keepWindows reads a door's window policies. One that was replaced gets another id when it is restored.
func (r *run) keepWindows(ctx context.Context, door, placeID string) error {
	path := "/device/v1/doors/" + esc(door) + "/policies"
	return r.keep(ctx, "windows "+door, placeID, path, func(ctx context.Context, a *answer) error {
		was, _ := a.field("data").([]any)
		if err := r.must(ctx, placeID, http.MethodDelete, path, nil); err != nil {
			return err
		}
		for _, w := range slices.Backward(was) { // listed newest first, and the newest wins
			p, _ := w.(map[string]any)
			window, _ := p["window"].(map[string]any)
			for k, v := range window {
				if v == nil {
					delete(window, k)
				}
			}
			if err := r.must(ctx, placeID, http.MethodPost, path, map[string]any{"window": window, "mode": p["mode"]}); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepOutagePolicy reads a board's outage policy.
func (r *run) keepOutagePolicy(ctx context.Context, board, placeID string) error {
	path := "/device/v1/boards/" + esc(board) + "/netloss"
	return r.keep(ctx, "netloss "+board, placeID, path, func(ctx context.Context, a *answer) error {
		was := map[string]any{"graceSec": a.value("data", "graceSec"), "channels": a.value("data", "channels")}
		return r.must(ctx, placeID, http.MethodPut, path, was)
	})
}

// keep reads what a path of the public API says before its first change; back puts that back.
func (r *run) keep(ctx context.Context, name, placeID, path string, back func(ctx context.Context, was *answer) error) error {
	if r.undo.has(name) {
		return nil
	}
	was, err := r.read(ctx, placeID, http.MethodGet, path, nil)
	if err == nil {
		r.undo.add(name, func(ctx context.Context) error { return back(ctx, was) })
	}
	return err
}
