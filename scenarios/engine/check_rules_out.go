package engine

import (
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// What a step sends and expects narrows further down what it can be evidence for: a command that must be reported says
// nothing about offline boards, whatever else it claims.

// rulesOut reports whether what the step sends and expects has nothing to do with the clause.
func (s *Step) rulesOut(clause string) bool {
	if s.maybeLater(clause) {
		return true
	}
	if c := s.Verbs.Command; c != nil {
		return c.rulesOut(s, clause)
	}
	if s.Verbs.Permit != nil && clause == "PERM-4" { // a new link in place of the dead one
		return !slices.ContainsFunc(s.Expect, func(e Expr) bool { return oldLink.MatchString(e.Src) })
	}
	if c := s.Verbs.Call; c != nil && c.ownToken() && (clause == "AUTH-1" || clause == "AUTH-5") {
		return true
	}
	if c := s.Verbs.Call; c != nil && clause == "AUTH-3" {
		return literal(c.Status) && !slices.ContainsFunc(c.Status, func(n Num) bool { return n.raw == "429" }) && !strings.HasPrefix(c.Path.raw, "/core/v1/auth/")
	} else if c != nil && c.reads() {
		return c.onlyReads(s, clause)
	}
	return false
}

// maybeLater reports whether the step tries a link or a phone until it comes out right, although the clause promises that it does
// at once.
func (s *Step) maybeLater(clause string) bool {
	tried := s.Verbs.Link != nil || s.Verbs.Phone != nil
	return tried && (s.Within != nil || s.Eventually) && (clause == "PERM-1" || clause == "PERM-4")
}

// oldLink is what a registration's answer has to do with links that died.
var oldLink = regexp.MustCompile(`entryToken|entryUrl|revoke`)

// endings are the guarantees about one way in which a command ends: its outcome, its status and its code.
var endings = map[string][3]string{
	"CMD-2": {"offline", "409", "device_offline"},
	"CMD-3": {"refused", "502", "device_refused"},
}

func (c *Command) rulesOut(s *Step, clause string) bool {
	if end, about := endings[clause]; about {
		return c.Outcome.set() && c.Outcome.raw != end[0] && !strings.Contains(c.Outcome.raw, "${") || literal(c.Status) && !slices.ContainsFunc(c.Status, func(n Num) bool { return n.raw == end[1] }) ||
			c.Error.raw != "" && !strings.Contains(c.Error.raw, "${") && c.Error.raw != end[2]
	}
	if clause == "LEG-1" {
		return !c.Legacy && len(s.Expect) == 0
	}
	plain := !c.Key.set() && (c.Apart || c.Times == nil && c.Together == nil && len(s.Expect) == 0)
	return clause == "CMD-5" && plain
}

func literal(list Statuses) bool {
	return len(list) > 0 && len(list.codes()) == len(list)
}

// ownToken reports whether the request carries a token that is written in the file, or none: no key ever got that one.
func (c *Call) ownToken() bool {
	return c.Token != nil && !strings.Contains(c.Token.raw, "${") && !strings.HasPrefix(c.Path.raw, "/core/v1/auth/") && !strings.HasPrefix(c.Path.raw, "${") && len(c.Headers) == 0
}

// reads reports whether the request changes nothing.
func (c *Call) reads() bool {
	return (c.Method == "" || c.Method == "GET") && c.Body == nil && c.Raw == nil
}

// readParts are the parts of what a path reads that have to do with a guarantee. That there is no permit says that it was
// refused; a hold is nowhere to be seen but in how a door stands, and a new path shows of a legacy one only what it did.
var readParts = []struct {
	path  string
	parts map[string]string
}{
	{permitsPath, map[string]string{
		"PERM-5": "count total maxHours startsAt endsAt", "PERM-6": "count total doorIds", "PERM-7": "count total state startsAt endsAt",
		"SYNC-1": "sync boards", "SYNC-2": "sync boards", "SYNC-3": "sync boards",
		"PERM-3": "count total state startsAt endsAt updatedAt revokedAt revokeReason createdAt phone name permitId useCount firstUsedAt url entryToken doorIds",
		"OFF-1":  "sync boards useCount firstUsedAt", "OFF-4": "sync boards useCount firstUsedAt",
		"CMD-4": "useCount firstUsedAt", "CMD-5": "useCount firstUsedAt", "CMD-6": "count total useCount firstUsedAt state",
		"ENT-1": "useCount firstUsedAt state", "ENT-2": "useCount firstUsedAt", "ENT-3": "useCount firstUsedAt state", "ENT-4": "useCount firstUsedAt phone",
	}},
	{"/core/v1/public/places", map[string]string{"HRS-1": "days", "HRS-2": "days timezone"}},
	{"/device/v1/devices", map[string]string{
		"CMD-7": "state holdUntil", "CMD-8": "standing health", "LEG-1": "standing health headers", "OFF-3": "standing", "OFF-4": "standing health",
		"ENT-2": "standing", "ENT-3": "standing", "ENT-4": "standing",
	}},
	{"/device/v1/doors", map[string]string{
		"CMD-7": "doorState", "CMD-8": "total doorState online window mode active", "OFF-3": "doorState", "OFF-4": "doorState online total window mode active",
	}},
	{"/device/v1/boards", map[string]string{"CMD-8": "online graceSec channels version appliedAt", "OFF-3": "graceSec channels version appliedAt"}},
}

// partsFixed reports whether an expression names nothing but parts of a cohort or a person that the file itself decided: one.place.
func (s *Step) partsFixed(name string, paths []string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool {
		return p == name || strings.HasPrefix(p, name+".") && !s.fixed[name] && !s.fixed[p]
	})
}

// onlyReads is about what is read: a permit's state has nothing to do with its doors or with what boards have, nor a name
// with its period, nor a door's id with how long it is held.
func (c *Call) onlyReads(s *Step, clause string) bool {
	needs := c.partsFor(clause)
	if needs == "" || len(s.Expect) == 0 && c.Match == nil || c.Match != nil && c.Match.looksAt(needs) {
		return false
	}
	for _, e := range s.Expect {
		for word := range strings.FieldsSeq(needs) {
			if strings.Contains(e.Src, word) {
				return false
			}
		}
		for n := range e.Names {
			if !resultFields[n] && !expression.Builtin(n) && !s.partsFixed(n, e.Paths) || n == "it" || n == "data" && slices.Contains(e.Paths, "data") && len(e.Mentions.Fields) == 0 {
				return false // a captured value, or the whole answer
			}
		}
	}
	return true
}

// partsFor are the parts of what the request reads that have to do with the clause; "" if any may.
func (c *Call) partsFor(clause string) (parts string) {
	for _, r := range readParts {
		if c.reads() && strings.HasPrefix(c.Path.raw, r.path) {
			parts = r.parts[clause]
		}
	}
	return parts
}

// looksAt reports whether a part of a body has a field whose name contains one of the words, or isn't fields alone.
func (a Any) looksAt(words string) bool {
	switch v := a.v.(type) {
	case map[string]Any:
		for name, part := range v {
			for word := range strings.FieldsSeq(words) {
				if strings.Contains(name, word) {
					return true
				}
			}
			if _, value := part.v.(Text); name == "data" && value || part.looksAt(words) {
				return true
			}
		}
	case []Any:
		return len(v) == 0 || slices.ContainsFunc(v, func(part Any) bool { return part.looksAt(words) })
	}
	return false
}
