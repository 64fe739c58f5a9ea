package engine

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/scenarios/evidence"
)

// Which guarantees can a step be evidence for? scenarios/evidence knows what verbs and requests can show; what a step
// sends and looks at narrows it down.

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
		return evidence.Among("AUTH-4 CMD-8 ENT-1 ENT-2 ENT-3 IMP-1 PERM SYNC-3", clause)
	case v.Boards != nil && !s.looksAtBoards(clause):
		return false
	case (v.Permit != nil || v.Command != nil || v.Netloss != nil || v.Policy != nil || v.Hours != nil || v.Revoke != nil) && !s.shows401(clause):
		return false
	case v.Permit != nil && len(s.Expect) > 0 && strings.HasPrefix(clause, "SYNC"): // the answer says how far it has come
		return true
	}
	return evidence.OfVerb(s.verbName(), clause)
}

// shows401 is about requests that a token or key decides: what is answered 401 is evidence for nothing else, and an
// ordinary success isn't evidence that others are refused. (That a token exchange succeeds again shows that its limit is
// one for a minute.)
func (s *Step) shows401(clause string) bool {
	a := s.Verbs.answered()
	unauthorized := len(a.Status) > 0 && !slices.ContainsFunc(a.Status, func(n Num) bool { return n.raw != "401" })
	if unauthorized {
		return evidence.Among("AUTH LEG-1", clause)
	}
	plain := len(a.Status) == 0 && !a.Error.set() && a.succeeds() && len(s.Expect) == 0
	again := clause == "AUTH-3" && s.Verbs.Call != nil && s.Verbs.Call.exchanges()
	return !plain || again || !evidence.Among("AUTH-2 AUTH-3 AUTH-4 AUTH-5", clause) || s.Verbs.withKey()
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
	family := evidence.Family(path)
	if family == "" {
		return !missing || evidence.Among("AUTH", clause)
	}
	read := cmp.Or(c.Method, "GET") == "GET" && c.Body == nil && c.Raw == nil && family != "/entry"
	if read && len(c.Status) == 0 && !c.Error.set() && c.succeeds() && !s.looksAtMore(family) {
		return evidence.Among("AUTH", clause) || clause == "LEG-1" && evidence.OfRequest(family, clause)
	}
	return evidence.OfRequest(family, clause)
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

// boardFields are the fields of a board that have to do with a guarantee, or with a family of them. Of its doors only how they stand does; which
// ones there are is decided before a file begins.
var boardFields = map[string]string{
	"SYNC": "appliedRevision desiredRevision bufferedRecords", "PERM": "appliedRevision desiredRevision",
	"CMD": "standing lastResult", "ENT": "standing", "HRS": "standing appliedRevision", "AUTH": "standing",
	"OFF":   "online phase outageAgeSec bufferedRecords droppedRecords appliedRevision desiredRevision standing",
	"OFF-2": "phase outageAgeSec bufferedRecords standing", "OFF-3": "standing",
}

// looksAtBoards reports whether the step's expectations name a field that has to do with the clause.
func (s *Step) looksAtBoards(clause string) bool {
	family, _, _ := strings.Cut(clause, "-")
	all := slices.Clone(s.Expect)
	if s.Verbs.Boards.All != nil {
		all = append(all, *s.Verbs.Boards.All)
	}
	for _, e := range all {
		for f := range strings.FieldsSeq(cmp.Or(boardFields[clause], boardFields[family])) {
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
