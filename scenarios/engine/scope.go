package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// scope holds names. A child scope sees its parent's; names that steps define belong to the file's.
type scope struct {
	parent *scope
	file   *fileRun
	mu     sync.Mutex
	vars   map[string]any
	stands bool // a row of a table that is written in the file
}

// ofTable reports whether a name is a column of a table that is written in the file.
func (s *scope) ofTable(name string) bool {
	for ; s.parent != nil; s = s.parent { // a table has none of the file's own names, which other steps may be setting
		if _, ok := s.vars[name]; ok {
			return s.stands
		}
	}
	return false
}

func (s *scope) child(vars map[string]any) *scope {
	return &scope{parent: s, file: s.file, vars: vars}
}

func (s *scope) root() *scope {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

func (s *scope) set(name string, v any) {
	s.assign(name, v)
	s.file.past.Forget(name)
}

// assign is set for a value whose origin has been noted.
func (s *scope) assign(name string, v any) {
	s.mu.Lock()
	s.vars[name] = v
	s.mu.Unlock()
}

func (s *scope) forget(name string) {
	s.mu.Lock()
	delete(s.vars, name)
	s.mu.Unlock()
	s.file.past.Forget(name)
}

// env is everything that an expression sees.
func (s *scope) env() map[string]any {
	var out map[string]any
	if s.parent != nil {
		out = s.parent.env()
	} else {
		out = s.file.functions()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(out, s.vars)
	return out
}

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		s.mu.Lock()
		v, ok := s.vars[name]
		s.mu.Unlock()
		if ok {
			return v, true
		}
	}
	return nil, false
}

// builtins are the names that every expression sees besides expr's own.
var builtins = evidence.SetOf(`phone uid json seconds clock_change seed file target it label`)

// functions are the built-in names of a file.
func (f *fileRun) functions() map[string]any {
	return map[string]any{
		"seed":   f.run.seed,
		"file":   f.file.Base(),
		"target": f.run.targetInfo(),
		// at("cut+36h") is that moment as RFC 3339 in UTC.
		expression.At: func(text string) (string, error) {
			t, err := f.moment(text)
			return rfc3339(t), err
		},
		// label("cut") is that moment as Unix milliseconds.
		"label": func(text string) (int64, error) {
			t, err := f.moment(text)
			return t.UnixMilli(), err
		},
		// seconds("36h") is a duration as a number.
		"seconds": func(text string) (float64, error) {
			d, err := duration(text)
			return d.Seconds(), err
		},
		// clock_change("Europe/Berlin", "forward") is the date on which the zone's clocks
		// go forward (or back) next.
		"clock_change": func(zone, way string) (string, error) { return clockChange(f.run.now(), zone, way) },
		"phone":        func(name string) string { return f.phone(name) },
		"uid":          func(name string) string { return f.uid(name) },
		"json": func(v any) (string, error) {
			b, err := json.Marshal(v)
			return string(b), err
		},
	}
}

// clockChange is the date, in its zone, of the next time that clocks go forward or
// back, two days from now at the earliest.
func clockChange(now time.Time, zone, way string) (string, error) {
	loc, err := time.LoadLocation(zone)
	if err == nil {
		err = checkWay(way)
	}
	if err != nil {
		return "", err
	}
	for at := now.Add(48 * time.Hour).In(loc); ; {
		_, before := at.Zone()
		_, next := at.ZoneBounds()
		if !next.IsZero() && !next.After(at) { // on the last day of a leap year, Go gives an end that has passed
			next = at.Add(24 * time.Hour)
		}
		if next.IsZero() || next.Sub(now) > 5*365*24*time.Hour {
			return "", fmt.Errorf("clocks in %s don't go %s within the next 5 years", zone, way)
		}
		_, after := next.Zone()
		if after > before && way == "forward" || after < before && way == "back" {
			return next.Format(time.DateOnly), nil
		}
		at = next
	}
}

// keysOf lists a map's keys in order.
func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func rfc3339(t time.Time) string { return t.UTC().Format(control.TimeFormat) }

// digest is draw's number; on a shared target it derives also from the run and the play, so that people are new to it.
func (f *fileRun) digest(name string) uint64 {
	if f.run.target.Shared() || f.run.keysOnly() {
		name = fmt.Sprint(f.run.id, "/", f.file.play, "/", name)
	}
	return f.draw(name)
}

// draw is a number derived from the seed, the file and a name. Who chooses by it chooses the same in every run.
func (f *fileRun) draw(name string) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%s", f.run.seed, f.file.Base(), name))
	return binary.BigEndian.Uint64(h[:8])
}

// phone is a Korean mobile number for a name, the same for the same seed and file.
func (f *fileRun) phone(name string) string {
	return fmt.Sprintf("010%08d", f.digest("phone/"+name)%100_000_000)
}

// uid is a short unique text for a name, fit for a reference and an Idempotency-Key. What it leaves out of the names is in
// its digest; with 43 characters or more it would be masked as a token.
func (f *fileRun) uid(name string) string {
	return fmt.Sprintf("%s-%s-%s", legible(f.file.Base(), 18), legible(name, 14), letters(uint32(f.digest("uid/"+name))))
}

// letters writes a number in eight letters: eight digits in a row would be masked as a phone.
func letters(n uint32) string {
	var out [8]byte
	for i := range out {
		out[i] = 'a' + byte(n>>(4*i)&15)
	}
	return string(out[:])
}

// legible is the beginning of a text, with _ for what a header can't carry.
func legible(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < '!' || r > '~' {
			return '_'
		}
		return r
	}, text)
	return text[:min(len(text), most)]
}
