package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// moment parses a point in time: label, now, offset or RFC 3339.
func (f *fileRun) moment(text string) (time.Time, error) { return f.momentAt(f.run.now(), text) }

// momentAt is moment by one reading of the clock.
func (f *fileRun) momentAt(now time.Time, text string) (time.Time, error) {
	label, d, err := splitMoment(text)
	if err != nil {
		return time.Time{}, err
	}
	if absolute.MatchString(label) {
		t, err := time.Parse(time.RFC3339Nano, label)
		return t.Add(d), err
	}
	if label == "now" {
		return now.Truncate(time.Millisecond).Add(d), nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.labels[label]
	if !ok {
		return t, &expression.Pointless{Text: fmt.Sprintf("the moment %q has not been marked yet", label)} // a mistake in the file
	}
	return t.Add(d), nil
}

// at is the time of a When, or now.
func (x *frame) at(w When) time.Time {
	def := "now"
	if w.set() {
		def = need(w.str(x.scope))
	}
	return need(x.file.moment(def))
}

// span is the time from one When to another. Both are told by one reading of the clock, so that from now to +720h is 30
// days, not some milliseconds more.
func (x *frame) span(from, to When, until string) (start, end time.Time) {
	now, first := x.run.now(), "now-1h"
	if from.set() {
		first = need(from.str(x.scope))
	}
	if to.set() {
		until = need(to.str(x.scope))
	}
	return need(x.file.momentAt(now, first)), need(x.file.momentAt(now, until))
}

// member reads a field of a value that is a mapping.
func member(v any, name string) (any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	f, ok := m[name]
	return f, ok
}

// one gets a single id from a cohort (its first), a mapping with that field, a list's first element, or an id.
func one(v any, what string) (string, error) {
	if s, ok := v.(string); ok && s != "" {
		return s, nil
	}
	if f, ok := member(v, what); ok {
		return one(f, what)
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		return one(list[0], what)
	}
	return "", fmt.Errorf("%s is not a %s", brief(v, 80), what)
}

// many gets ids from a cohort, a list or an id.
func many(v any, plural string) (out []string, err error) {
	switch x := v.(type) {
	case string:
		return []string{x}, nil
	case []string:
		return x, nil
	case []any:
		for _, e := range x {
			ids, err := many(e, plural)
			if err != nil {
				return nil, err
			}
			out = append(out, ids...)
		}
		return out, nil
	}
	if f, ok := member(v, plural); ok {
		return many(f, plural)
	}
	return nil, fmt.Errorf("%s holds no %s", brief(v, 80), plural)
}

// refer evaluates a reference. A name that only a later step defines has no value yet.
func (x *frame) refer(r Ref) any {
	v := need(r.eval(x.scope))
	if v == nil {
		panic(stop{fmt.Errorf("%s has no value yet: a cohort, a person or a capture is known after the step that defines it", r.asWritten())})
	}
	return v
}

// place resolves a reference to a place id; a board's or door's place counts too.
func (x *frame) place(r Ref) string {
	id := need(one(x.refer(r), "place"))
	if b := cmp.Or(x.run.dir.board(id), x.run.dir.door(id)); b != nil {
		return b.placeID
	}
	return id
}

// door resolves a reference to one door id.
func (x *frame) door(r Ref) string { return need(one(x.refer(r), "door")) }

// doors resolves a reference to door ids.
func (x *frame) doors(r Ref) []string { return x.anyone(r, "doors") }

// anyone is many, but requires at least one: a step about nobody would do nothing.
func (x *frame) anyone(r Ref, plural string) []string {
	ids := need(many(x.refer(r), plural))
	if len(ids) == 0 {
		panic(stop{fmt.Errorf("there are no %s: nothing would be done", plural)})
	}
	return ids
}

// doorList adds the doors that a step names to a body, and returns them: nil if it names none.
func (x *frame) doorList(rs *Refs, body map[string]any) (out []string) {
	if rs == nil {
		return nil
	}
	out = []string{}
	for _, r := range *rs {
		out = append(out, x.doors(r)...)
	}
	body["doorIds"] = out
	return out
}

// boards resolves a reference to boards; a door stands for its board, a place for its boards. Unset: nil, which means all live
// boards.
func (x *frame) boards(r Ref) (out []*boardInfo) {
	if !r.set() {
		return need(x.run.dir.pick(x.ctx, "live", false))
	}
	seen := map[string]bool{}
	for _, id := range x.anyone(r, "boards") {
		found := []*boardInfo{cmp.Or(x.run.dir.board(id), x.run.dir.door(id))}
		if found[0] == nil {
			found = need(x.run.dir.boardsAt(x.ctx, id))
		}
		if len(found) == 0 {
			panic(stop{fmt.Errorf("no board %q in the target%s", id, x.run.dir.near(id))})
		}
		for _, b := range found {
			if !seen[b.id] {
				seen[b.id] = true
				out = append(out, b)
			}
		}
	}
	return out
}

// person resolves a reference to a person: a mapping with a phone, or the name of one, as a table's column has it.
func (x *frame) person(r Ref) map[string]any {
	v := x.refer(r)
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	return x.aPerson(v)
}

// aPerson is a value that must be a person, or the name of one.
func (x *frame) aPerson(v any) map[string]any {
	if name, ok := v.(string); ok {
		if named, there := x.scope.get(name); there {
			v = named
		}
	}
	if _, ok := member(v, "phone"); !ok {
		panic(stop{fmt.Errorf("%s is not a person", brief(v, 80))})
	}
	return v.(map[string]any)
}

// people resolves a reference to several.
func (x *frame) people(r Ref) (out []map[string]any) {
	v := x.refer(r)
	if f, ok := member(v, "people"); ok {
		v = f
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		out = append(out, x.aPerson(e))
	}
	if len(out) == 0 {
		panic(stop{errors.New("there are no people: nothing would be done")})
	}
	return out
}

// apiKey is a key reference's secret, else the place's key.
func (x *frame) apiKey(key Ref, placeID string) string {
	if !key.set() {
		return need(x.run.dir.key(placeID))
	}
	return need(one(need(key.eval(x.scope)), "apiKey"))
}

// placeOfKey is the place that a key reference names beside the secret, "" if it names none.
func (x *frame) placeOfKey(key Ref) string {
	if key.set() {
		if v, err := key.eval(x.scope); err == nil {
			if p, ok := member(v, "place"); ok {
				return expression.Show(p)
			}
		}
	}
	return ""
}

// owner is the control listener that has a door's board.
func (x *frame) owner(doorID string) string {
	lab := x.lab()
	if b := x.run.dir.door(doorID); b != nil && b.owner != "" {
		return b.owner
	}
	return append(slices.Clone(lab.fleet), lab.main)[0]
}

// since is the time from which a list is examined. Nothing has happened since now, so a list since now would be empty
// whatever the target did.
func (x *frame) since(w When) time.Time {
	if !w.set() {
		return time.Time{}
	}
	t := x.at(w)
	if raw, literal := w.Literal(); literal && strings.TrimSpace(raw) == "now" || t.After(x.run.now().Add(time.Second)) {
		panic(stop{fmt.Errorf("since %s: nothing can have happened after now; mark an earlier moment", w.raw)})
	}
	return t
}
