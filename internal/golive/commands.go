package golive

import (
	"time"

	"github.com/doorlab/doorlab/internal/inbox"
)

const (
	// enough is how many commands with keys of their own prove the habit.
	enough = 3
	// retryWithin is how soon after a failure another command for the same door counts as the client's reaction to it.
	retryWithin = 2 * time.Minute
	// staleAfter: nobody retries a finished request that late, so the key must be a constant.
	staleAfter = 5 * time.Minute
)

// uniqueKeys checks that each key belongs to one request, and that repeats are prompt retries.
func uniqueKeys(entries []*inbox.Entry) finding {
	first := map[string]*inbox.Entry{}
	var fresh []*inbox.Entry
	for _, e := range commands(entries) {
		switch {
		case e.Code == "idempotency_key_required" || e.Code == "idempotency_key_invalid":
			return broken("key_missing", e)
		case e.Code == "idempotency_key_reused":
			if f := first[e.KeyMark]; f != nil {
				return broken("key_of_two", f, e)
			}
			return broken("key_taken", e)
		case e.KeyMark == "" || e.CommandID == "":
			continue
		}
		f := first[e.KeyMark]
		if f == nil {
			first[e.KeyMark] = e
			fresh = append(fresh, e)
			continue
		}
		if f.Status == 200 && e.Replayed && e.At.Sub(f.At) > staleAfter {
			return broken("key_constant", f, e).with(Figures{AfterSec: e.At.Sub(f.At).Seconds()})
		}
	}
	if len(fresh) < enough {
		return finding{}
	}
	return proven("keys_own", fresh[:enough]...).with(Figures{Count: len(fresh)})
}

// sameKeyAfter504 checks that retries keep the key: only then can the client find out whether the door moved.
func sameKeyAfter504(entries []*inbox.Entry) (f finding) {
	list := commands(entries)
	for i, e := range list {
		if e.Status != 504 || e.Replayed {
			continue
		}
		for _, next := range list[i+1:] {
			if next.KeyMark == e.KeyMark {
				if f.state == "" {
					f = proven("504_same", e, next)
				}
				break
			}
			if next.Path == e.Path && next.KeyID == e.KeyID && next.At.Sub(e.At) < retryWithin && !sentTogether(e, next) {
				return broken("504_other", e, next)
			}
		}
	}
	return f
}

// newKeyAfter409 checks for a new key: the outcome offline is stored under the old one, which never moves the door.
func newKeyAfter409(entries []*inbox.Entry) (f finding) {
	list := commands(entries)
	for i, e := range list {
		if e.Code != "device_offline" || e.Replayed {
			continue
		}
		for _, next := range list[i+1:] {
			if next.KeyMark == e.KeyMark {
				return broken("409_same", e, next)
			}
			if next.Path == e.Path && f.state == "" {
				f = proven("409_new", e, next)
			}
		}
	}
	return f
}

// doorIDs checks for empty arrays: an empty array is usually a filter that found nothing.
func doorIDs(entries []*inbox.Entry) (f finding) {
	for _, e := range entries {
		if e.Code == "empty_door_ids" {
			return broken("doors_empty", e)
		}
		if f.state == "" && e.Method == "POST" && e.Route == permitsRoute && e.Status == 200 {
			f = proven("doors_chosen", e)
		}
	}
	return f
}

// methods checks for GETs of paths that change something; those answer 405.
func methods(entries []*inbox.Entry) (f finding) {
	for _, e := range entries {
		if e.Method == "GET" && e.Code == "method_not_allowed" {
			return broken("get", e)
		}
		if f.state == "" && isCommand(e) && e.Status == 200 {
			f = proven("post", e)
		}
	}
	return f
}

// Repeats that show that an error isn't handled.
const (
	hammered     = 3
	hammerWithin = time.Minute
)

// isError reports whether a request failed in a way that no other point is about.
func isError(e *inbox.Entry) bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != 409 && e.Status != 429
}

// errorsHandled checks that hopeless requests aren't repeated, and expired tokens are renewed.
func errorsHandled(entries []*inbox.Entry) (f finding) {
	for i, e := range entries {
		if !isError(e) {
			continue
		}
		again := []*inbox.Entry{e}
		var better *inbox.Entry
		for _, next := range entries[i+1:] {
			if sentTogether(e, next) {
				continue
			}
			if e.Code == "token_expired" && next.Token == e.Token && next.Token != "" || e.Code != "token_expired" && same(e, next) && next.Status == e.Status && next.Code == e.Code {
				if next.At.Sub(e.At) < hammerWithin {
					again = append(again, next)
				}
				continue
			}
			if better == nil && next.Status < 400 && (e.Code != "token_expired" || next.Route == exchangeRoute) {
				better = next
			}
		}
		if len(again) >= hammered {
			return broken("error_again", again[0], again[len(again)-1]).with(Figures{Count: len(again), Status: e.Status, Code: e.Code})
		}
		if better != nil && f.state == "" {
			f = proven("error_handled", e, better).with(Figures{Status: e.Status, Code: e.Code})
		}
	}
	return f
}
