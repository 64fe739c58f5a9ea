package golive

import (
	"slices"

	"github.com/doorlab/doorlab/internal/inbox"
)

// soFar is what was seen about a point that is neither proven nor broken, so that a developer sees what still lacks; an
// empty finding if nothing was.
func soFar(point string, entries []*inbox.Entry) finding {
	count := func(name string, is func(*inbox.Entry) bool) (f finding) {
		for _, e := range entries {
			if is(e) {
				f.figures.Count++
			}
		}
		if f.figures.Count > 0 {
			f.name = name
		}
		return f
	}
	switch point {
	case "token_reuse":
		f := count("so_far_exchanged", func(e *inbox.Entry) bool { return e.Route == exchangeRoute && e.Given != "" })
		f.figures.Uses = busiest(entries)
		return f
	case "unique_keys":
		var keys []string
		return count("so_far_keys", func(e *inbox.Entry) bool {
			known := !isCommand(e) || e.KeyMark == "" || e.CommandID == "" || slices.Contains(keys, e.KeyMark)
			keys = append(keys, e.KeyMark)
			return !known
		})
	case "same_key_after_504":
		return count("so_far_504", func(e *inbox.Entry) bool { return isCommand(e) && e.Status == 504 })
	case "new_key_after_409":
		return count("so_far_409", func(e *inbox.Entry) bool { return isCommand(e) && e.Code == "device_offline" })
	case "back_off":
		return count("so_far_429", func(e *inbox.Entry) bool { return e.Status == 429 })
	case "door_ids":
		return count("so_far_permits", func(e *inbox.Entry) bool { return e.Method == "POST" && e.Route == permitsRoute })
	case "methods":
		return count("so_far_commands", isCommand)
	}
	return count("so_far_errors", isError)
}

// busiest is how many requests the token that was used most served.
func busiest(entries []*inbox.Entry) (most int) {
	given, uses := map[string]bool{}, map[string]int{}
	for _, e := range entries {
		if given[e.Token] && e.Status != 401 {
			uses[e.Token]++
			most = max(most, uses[e.Token])
		}
		if e.Given != "" {
			given[e.Given] = true
		}
	}
	return most
}
