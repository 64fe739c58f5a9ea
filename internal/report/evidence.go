package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/each"
)

// Lines are the items of a list as a page shows them.
func (e Evidence) Lines() []string { return each.Of(e.Items, itemLine) }

// itemLine is an item as a person reads it: its time, what happened and by what, then its other fields. The exact text
// stands in the answer beside it and in verdicts.json. An item with more structure is indented JSON.
func itemLine(item string) string {
	var fields map[string]any
	dec := json.NewDecoder(strings.NewReader(item))
	dec.UseNumber() // a revision isn't 1e+06
	if dec.Decode(&fields) != nil || len(fields) == 0 {
		return pretty(item)
	}
	take := func(name string) string {
		text, _ := fields[name].(string)
		if text != "" {
			delete(fields, name)
		}
		return text
	}
	head, parts := "", []string{}
	if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(fields["at"])); err == nil {
		head = at.UTC().Format("15:04:05.000") + " "
		delete(fields, "at")
	}
	if action := take("action"); action != "" {
		if cause := take("cause"); cause != "" {
			action += " by " + cause
		}
		parts = append(parts, action)
	}
	var names []string
	for name, v := range fields {
		switch v.(type) {
		case map[string]any, []any:
			return pretty(item)
		case nil: // says nothing
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %v", name, fields[name]))
	}
	return head + strings.Join(parts, ", ")
}
