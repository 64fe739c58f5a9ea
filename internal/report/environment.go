package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
)

// Fact is one thing that a reader may want to know about how a run was made.
type Fact struct{ Name, Value string }

// factNames are the words for what Result.Config has, in the order in which they are shown.
var factNames = []struct{ key, name string }{
	{"target", "target"}, {"world", "world file"}, {"boards", "live boards"}, {"fleet", "boards in scenarios about fleets"}, {"link", "boards' connections"},
	{"client", "boards' MQTT client"}, {"parallel", "worlds at a time"}, {"seed", "seed"},
}

// Environment is how the run was made. What another version kept beside that is shown under its own name.
func (res Result) Environment() (out []Fact) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, Fact{name, value})
		}
	}
	add("doorlab", res.Version)
	kept := map[string]any{}
	raw, err := json.Marshal(res.Config)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a seed has up to 19 digits
	if err != nil || d.Decode(&kept) != nil || len(kept) == 0 {
		return out
	}
	if kept["target"] == "" {
		kept["target"] = "started by this command"
	}
	if fleet := kept["fleet"]; fleet == json.Number("0") || fleet == kept["boards"] { // as many as the files ask for, or as said above
		delete(kept, "fleet")
	}
	for _, n := range factNames {
		add(n.name, fact(n.key, kept[n.key]))
		delete(kept, n.key)
	}
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		add(key, fact(key, kept[key]))
	}
	return out
}

// fact is a value of the kept configuration for people, "" for none. A seed stays as one types it.
func fact(key string, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case json.Number:
		if whole, err := v.Int64(); err == nil && key != "seed" {
			return amount.Number(whole)
		}
		return v.String()
	case map[string]any, []any:
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(raw)
	}
	return fmt.Sprint(v)
}
