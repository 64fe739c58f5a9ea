package evidence

import (
	"maps"
	"slices"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// ofFirst are the results of a repeated request that are the first answer's.
var ofFirst = []string{"status", "body", "data", "error", "message", "details", "total", "replayed", "ms", "headers"}

// together makes the answers of a repeated request agree with what the engine derives from them: the first one's
// parts, all statuses, and how many were no replays. was is what there was before.
func together(env, was map[string]any) map[string]any {
	list, _ := env["answers"].([]any)
	before, _ := was["answers"].([]any)
	if len(list) == 0 || len(list) != len(before) || !has(was, "statuses") {
		return env
	}
	list = slices.Clone(list)
	for i := range list {
		one, ok := list[i].(map[string]any)
		if !ok {
			return env
		}
		list[i] = maps.Clone(one)
	}
	if unchanged(env["answers"], was["answers"]) {
		takeOver(list, env, was)
	}
	for i := range list {
		one, _ := list[i].(map[string]any)
		if was, ok := before[i].(map[string]any); ok {
			list[i] = oneBody(one, was)
		}
	}
	out := maps.Clone(env)
	first, _ := list[0].(map[string]any)
	for _, part := range ofFirst {
		out[part] = first[part]
	}
	statuses, fresh := []any{}, 0.0
	for _, one := range list {
		statuses = append(statuses, read(one, spot{"status"}))
		if read(one, spot{"replayed"}) == false {
			fresh++
		}
	}
	out["answers"], out["statuses"], out["fresh"] = list, statuses, as(was["fresh"], fresh)
	return inWhole(out, append([]string{"answers", "statuses", "fresh"}, ofFirst...)...)
}

// takeOver changes answers as what is derived from them has changed.
func takeOver(list []any, env, was map[string]any) {
	statuses, _ := env["statuses"].([]any)
	fresh, err := expression.Number(env["fresh"])
	for i := range list {
		one, _ := list[i].(map[string]any)
		if len(statuses) == len(list) && !unchanged(env["statuses"], was["statuses"]) {
			one["status"] = statuses[i]
		}
		if err == nil && !unchanged(env["fresh"], was["fresh"]) {
			one["replayed"] = float64(i) >= fresh
		}
		for _, part := range ofFirst {
			if i == 0 && !unchanged(env[part], was[part]) {
				one[part] = env[part]
			}
		}
	}
}
