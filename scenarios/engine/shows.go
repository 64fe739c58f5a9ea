package engine

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/scenarios/evidence"
)

// What a step does decides which guarantees it can be evidence for: that an outage policy was accepted says nothing
// about commands, however real the check is. The lists name guarantees, or whole families of them, and are generous;
// what is left out has nothing to do with the verb.

const (
	moves    = "AUTH CMD ENT-2 ENT-3 ENT-4 LEG-1 OFF-3 OFF-4" // a command over the API
	opens    = "AUTH-4 CMD-1 CMD-2 CMD-3 CMD-4 CMD-6 CMD-8 ENT HRS IMP-1 PERM SYNC-3"
	onDay    = "CMD-7 ENT HRS IMP-1 OFF PERM SYNC" // what a board decides by itself
	accounts = "AUTH CMD ENT HRS-1 LEG-1 OFF-1 OFF-2 OFF-4 PERM SYNC"
)

// verbShows lists what verbs can be evidence for. A verb that isn't listed can be evidence for anything.
var verbShows = map[string]string{
	"permit":       "AUTH ENT-1 PERM",
	"revoke":       "AUTH ENT-1 PERM SYNC-2 SYNC-3",
	"bulk":         "AUTH PERM SYNC",
	"membership":   "AUTH ENT-1 PERM-5 SYNC-1 SYNC-3",
	"reservation":  "AUTH ENT-1 PERM-5 SYNC-1 SYNC-3",
	"command":      moves,
	"link":         opens,
	"phone":        opens,
	"present":      onDay,
	"present_each": onDay,
	"records":      accounts,
	"events":       accounts,
	"netloss":      "AUTH CMD-8 LEG-1 OFF-3",
	"policy":       "AUTH CMD-8 ENT-2 HRS-1 LEG-1 SYNC-3",
	"hours":        "AUTH ENT-2 HRS SYNC-3",
	"load":         "AUTH CMD ENT-4 LEG-1",
	"crash":        "CMD ENT-4",
	"boards":       "AUTH-4 CMD ENT-2 HRS-1 OFF PERM-2 PERM-3 SYNC",
	"synced":       "CMD-6 HRS-1 OFF-4 SYNC",
	"journal":      "AUTH-2 AUTH-4 AUTH-5 CMD ENT HRS-1 LEG-1 OFF PERM-1 PERM-2 PERM-3 PERM-4 PERM-6 PERM-7 SYNC",
	"key":          "AUTH",
	"tell":         "", // likewise
	"mqtt":         "", // the lab decides what is said; claim what follows from it
}

// pathShows lists the same for requests by the beginning of their path; the first that fits counts.
var pathShows = []struct{ prefix, shows string }{
	{"/core/v1/auth/", "AUTH"},
	{"/core/v1/public/", "AUTH HRS"},
	{"/core/v1/places/*/events", accounts},
	{"/core/v1/places/", "AUTH ENT-2 HRS SYNC-3"},
	{"/device/v1/doors/*/policies", "AUTH CMD-8 ENT-2 HRS-1 LEG-1 SYNC-3"},
	{"/device/v1/boards", "AUTH CMD-8 LEG-1 OFF SYNC"},
	{"/device/v1/", moves + " HRS-1 OFF SYNC"},
	{"/space/v1/partner/entry-logs", accounts},
	{"/space/v1/partner/entry-permits", "AUTH CMD-4 CMD-5 CMD-6 ENT IMP-1 OFF-1 OFF-4 PERM SYNC"},
	{"/space/v1/", "AUTH ENT IMP-1 PERM SYNC"},
	{"/entry", opens},
}

// shows reports whether the step can be evidence for a clause.
func (s *Step) shows(clause string, background map[string]*Step) bool {
	v := &s.Verbs
	switch {
	case s.rulesOut(clause):
		return false
	case v.Group != nil:
		return anyShows(*v.Group, clause, background)
	case v.Parallel != nil:
		return anyShows(*v.Parallel, clause, background)
	case v.Wait != nil:
		b := background[v.Wait.For]
		return b == nil || b.shows(clause, background)
	case v.Call != nil:
		return v.Call.shows(s, clause)
	case v.Link != nil && !v.Link.Door.set(): // the page of a link moves no door
		return among("AUTH-4 CMD-8 ENT-1 ENT-2 ENT-3 IMP-1 PERM SYNC-3", clause)
	case v.Boards != nil && !s.looksAtBoards(clause):
		return false
	case (v.Permit != nil || v.Command != nil || v.Netloss != nil || v.Policy != nil || v.Hours != nil || v.Revoke != nil) && !s.shows401(clause):
		return false
	case v.Permit != nil && len(s.Expect) > 0 && strings.HasPrefix(clause, "SYNC"): // the answer says how far it has come
		return true
	}
	list, listed := verbShows[s.verbName()]
	return !listed || among(list, clause)
}

// shows401 is about requests that a token or key decides: what is answered 401 is evidence for nothing else, and an
// ordinary success isn't evidence that others are refused.
func (s *Step) shows401(clause string) bool {
	a := s.Verbs.answered()
	unauthorized := len(a.Status) > 0 && !slices.ContainsFunc(a.Status, func(n Num) bool { return n.raw != "401" })
	if unauthorized {
		return among("AUTH LEG-1", clause)
	}
	plain := len(a.Status) == 0 && !a.Error.set() && a.succeeds() && len(s.Expect) == 0
	return !plain || !among("AUTH-2 AUTH-3 AUTH-4 AUTH-5", clause) || s.Verbs.withKey()
}

// withKey reports whether the request says whose key or token it carries.
func (v *Verbs) withKey() bool {
	switch {
	case v.Call != nil:
		return v.Call.Key.set() || v.Call.Token != nil
	case v.Command != nil:
		return v.Command.APIKey.set()
	case v.Permit != nil:
		return v.Permit.KeyName.set()
	}
	return false
}

func anyShows(steps []Step, clause string, background map[string]*Step) bool {
	for i := range steps {
		if steps[i].shows(clause, background) {
			return true
		}
	}
	return false
}

func among(list, clause string) bool {
	family, _, _ := strings.Cut(clause, "-")
	for one := range strings.FieldsSeq(list) {
		if one == clause || one == family {
			return true
		}
	}
	return false
}

// shows goes by the path of a request, if it is known before the run.
func (c *Call) shows(s *Step, clause string) bool {
	path := filled.ReplaceAllString(c.Path.raw, "*")
	path, _, _ = strings.Cut(path, "?")
	switch {
	case strings.HasPrefix(path, "*"):
		return true
	case strings.HasSuffix(path, "/openapi.json"), strings.HasSuffix(path, "/docs"):
		return clause == "LEG-1"
	case !s.shows401(clause):
		return false
	}
	missing := len(c.Status) > 0 && !slices.ContainsFunc(c.Status, func(n Num) bool { return n.raw != "404" && n.raw != "405" })
	if missing && clause == "LEG-1" { // removed endpoints, old methods
		return true
	}
	for _, p := range pathShows {
		if !hasPrefix(path, p.prefix) {
			continue
		}
		read := cmp.Or(c.Method, "GET") == "GET" && c.Body == nil && c.Raw == nil && p.prefix != "/entry"
		if read && len(c.Status) == 0 && !c.Error.set() && c.succeeds() && !s.looksAtMore(p.prefix) {
			return among("AUTH", clause) || clause == "LEG-1" && among(p.shows, clause)
		}
		return among(p.shows, clause)
	}
	return !missing || among("AUTH", clause)
}

// looksAtMore reports whether a read expects more than that it was answered. How many doors and boards a place has is
// decided before a file begins.
func (s *Step) looksAtMore(prefix string) bool {
	for _, e := range s.Expect {
		if strings.HasPrefix(prefix, "/device/") && counted.MatchString(e.Src) {
			continue
		}
		for n := range e.Names {
			if n != "status" && n != "headers" && n != "ms" && n != "replayed" && n != "error" && (n != "total" || !strings.HasPrefix(prefix, "/device/")) {
				return true
			}
		}
	}
	return false
}

// counted says only how long a list is.
var counted = regexp.MustCompile(`^\s*len\(data\)\s*[<>=!]+\s*\d+\s*$`)

// hasPrefix compares segments; * in the prefix is any one segment.
func hasPrefix(path, prefix string) bool {
	have, want := strings.Split(path, "/"), strings.Split(prefix, "/")
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != have[i] && (w != "" || i != len(want)-1) {
			return false
		}
	}
	return true
}

// boardFields are the fields of a board that have to do with a family of guarantees.
var boardFields = map[string]string{
	"SYNC": "appliedRevision desiredRevision bufferedRecords", "PERM": "appliedRevision desiredRevision",
	"CMD": "doors lastResult", "ENT": "doors", "HRS": "doors appliedRevision", "AUTH": "doors",
	"OFF": "online phase outageAgeSec bufferedRecords droppedRecords appliedRevision desiredRevision doors",
}

// looksAtBoards reports whether the step's expectations name a field that has to do with the clause.
func (s *Step) looksAtBoards(clause string) bool {
	family, _, _ := strings.Cut(clause, "-")
	all := slices.Clone(s.Expect)
	if s.Verbs.Boards.All != nil {
		all = append(all, *s.Verbs.Boards.All)
	}
	for _, e := range all {
		for f := range strings.FieldsSeq(boardFields[family]) {
			if strings.Contains(e.Src, f) {
				return true
			}
		}
		for n := range e.Names { // a captured or whole result
			if n == "it" || !resultFields[n] && !evidence.ElementFields[n] && n != "boards" && n != "first" && n != "last" {
				return true
			}
		}
	}
	return len(all) == 0
}
