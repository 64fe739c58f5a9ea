package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// keptMs is how long a key is kept; after that it counts as new.
const keptMs = 30 * 24 * 3600 * 1000

// codeReused is the answer to another request under a used key.
const codeReused = "idempotency_key_reused"

// codeStorage is the answer while nothing can be committed.
const codeStorage = "storage_unavailable"

// cmd5 judges CMD-5: under one key there is one command, sent at most once, after its intent was committed, acting at
// most once in any journal, and every definite answer is byte for byte the first. Another request under the key sends
// nothing. Without events from server and boards, a breach can be seen in the answers, but not that a door opened only
// once.
func cmd5(v *View) Verdict {
	t, repeats := v.counted.cmd5()
	elsewhere := v.usedElsewhere() // [CMD-5] a key belongs to its place
	if !v.hasServer && !v.hasDoors && !v.hasTruth && len(t.found) == 0 {
		t.checked = 0 // [CMD-5]
	}
	return t.verdict(v, "CMD-5", fmt.Sprintf("%s keys, %s repeats, at most one opening each", amount.Number(t.checked), amount.Number(repeats))).
		tried(repeats+len(elsewhere), "no key was used again at its place, or for a command of another place").at(v, v.usedAgain(), elsewhere)
}

func (v *View) cmd5() (t *tally, repeats int) {
	t = &tally{}
	for _, e := range v.unasked {
		t.breaks(e, "%s did %s for a command without an id", e.BoardID, e.Action) // [CMD-5]
	}
	for _, c := range v.order {
		v.sentOnce(t, c)
	}
	seen := map[string]bool{}
	for _, c := range v.order { // in the order of the history
		if c.key != "" && !seen[c.key] {
			seen[c.key] = true
			repeats += v.key(t, v.keys[c.key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.keys)) {
		if !seen[key] {
			repeats += v.key(t, v.keys[key])
		}
	}
	return t, repeats
}

// sentOnce judges a single command.
func (v *View) sentOnce(t *tally, c *command) {
	v.countReal(t, c)
	if len(c.publishes) > 1 {
		t.bad(c.publishes[1], "%s was sent %d times", c.id, len(c.publishes))
	}
	if len(c.publishes) > 0 && v.hasIntents {
		switch sent := c.publishes[0]; {
		case len(c.intents) == 0:
			t.bad(sent, "%s was sent without a committed intent", c.id)
		case v.before(sent, c.intents[0]):
			t.bad(sent, "%s was sent before its intent was committed", c.id)
		}
	}
	if len(c.publishes) > 0 && !v.hasIntents && len(c.answers)+len(c.records) == 0 && v.hasRecords {
		t.bad(c.publishes[0], "%s was sent, but no answer or record accounts for it", c.id)
	}
	if len(c.acts) > 0 && len(c.publishes) == 0 && v.hasServer {
		t.bad(c.acts[0], "%s moved a door but was never sent", c.id)
	}
	if len(c.acts) > 1 {
		t.bad(c.acts[1], "%s actuated %d times", c.id, len(c.acts))
	}
}

// definite reports whether an answer is one of the device stage, which a key keeps.
func definite(e *history.Event) bool { return e.Outcome != "" }

// key judges everything under one key and returns the number of repeats.
func (v *View) key(t *tally, k *keyUse) (repeats int) {
	if k == nil {
		return 0
	}
	if v.used(k) {
		t.checked++
	}
	var first *history.Event // the first definite answer of the running 30 days
	original := false        // a repeat was answered first, then the request that it repeated
	for _, e := range k.answers {
		switch {
		case first != nil && e.At-first.At < keptMs && v.forgot(e):
			t.bad(e, "key %s: answered with %d %s, but first with %d %s", k.key, e.Status, e.Code, first.Status, first.Outcome) // [CMD-5]
			continue
		case !definite(e):
			continue
		case first == nil || e.At-first.At >= keptMs && e.CommandID != first.CommandID:
			if first == nil && v.resent(k, e) {
				repeats++
			}
			first, original = e, false
			continue
		}
		switch {
		case first.Replayed && !e.Replayed && !original:
			original = true
		case !v.before(e, v.start()):
			repeats++
		}
		switch { // [CMD-5]
		case e.Status != first.Status || e.Outcome != first.Outcome:
			t.bad(e, "key %s: answered with %d %s, but first with %d %s", k.key, e.Status, e.Outcome, first.Status, first.Outcome)
		case e.CommandID != first.CommandID:
			t.bad(e, "key %s: answered with command %s, but first with %s", k.key, e.CommandID, first.CommandID)
		case e.BodyHash != first.BodyHash:
			t.bad(e, "key %s: the body differs from the first answer's", k.key)
		case e.Meaning != first.Meaning:
			t.bad(e, "key %s: another request got the first one's answer", k.key)
		}
	}
	repeats += v.reused(t, k)
	v.oneCommand(t, k)
	return repeats
}

// resent reports whether the first answer that anybody got under a key is of a repeat: it says so itself, or a request
// that was sent earlier never had an answer.
func (v *View) resent(k *keyUse, first *history.Event) bool {
	if v.before(first, v.start()) {
		return false
	}
	if first.Replayed {
		return true
	}
	for _, a := range k.attempts {
		if a.Request == first.Request { // those after it aren't repeated by it
			return false
		}
		if !v.before(a, v.start()) && !slices.ContainsFunc(k.answers, func(e *history.Event) bool { return e.Request == a.Request }) {
			return true
		}
	}
	return false
}

// used reports whether there was a command under the key since the run began. A request refused earlier, for an unknown
// door say, takes no key and is no evidence.
func (v *View) used(k *keyUse) bool {
	taken := slices.DeleteFunc(slices.Clone(k.answers), func(e *history.Event) bool { return !definite(e) && e.Code != codeReused })
	return slices.ContainsFunc([][]*history.Event{taken, k.intents, k.publishes}, func(es []*history.Event) bool {
		return len(es) > 0 && !v.before(es[len(es)-1], v.start())
	})
}

// start is where the run began; before everything if the history covers the target's whole life.
func (v *View) start() *history.Event {
	return cmp.Or(v.begun, &history.Event{})
}

// forgot reports an answer that must not come under a settled key, whatever was asked: a success or a server error
// without an outcome. A server that is stopping, starting or waiting too long for its disk may say 503: that isn't a
// different answer, and a step that doesn't expect it fails.
func (v *View) forgot(e *history.Event) bool {
	switch {
	case definite(e) || e.Code == codeReused:
		return false
	case e.Status == 503:
		return e.Code != codeStorage && !v.dying(e, e) && !v.starting(e)
	}
	return e.Status >= 500 || e.Status < 300 || e.Status == 409
}

// reused checks that only a different request is answered that the key is taken, and returns how many were since the
// run began, after a command had its result.
func (v *View) reused(t *tally, k *keyUse) (n int) {
	settled := slices.ContainsFunc(k.answers, definite) // before or after: two commands may race for a key
	for _, e := range k.answers {
		if e.Code != codeReused || e.Meaning == "" {
			continue
		}
		if settled && !v.before(e, v.start()) {
			n++
		}
		for _, f := range k.answers {
			if definite(f) && f.Meaning == e.Meaning && e.At-f.At < keptMs && f.At-e.At < keptMs {
				t.bad(e, "key %s: refused as reused although it is the same request", k.key)
				break
			}
		}
	}
	return n
}

// oneCommand checks that all intents, publishes and answers under the key belong to one command, and that at most one
// of its commands acts, once.
func (v *View) oneCommand(t *tally, k *keyUse) {
	var ids []string
	firsts := map[string]*history.Event{}
	for _, es := range [][]*history.Event{k.intents, k.publishes} {
		for _, e := range es {
			if f := firsts[e.CommandID]; f == nil {
				ids = append(ids, e.CommandID)
				firsts[e.CommandID] = e
			} else if sooner(e, f) {
				firsts[e.CommandID] = e
			}
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return order(firsts[a], firsts[b]) })
	for i := 1; i < len(ids); i++ {
		a, b := firsts[ids[i-1]], firsts[ids[i]]
		if b.At-a.At >= keptMs {
			continue
		}
		e := b
		first, second := v.commands[ids[i-1]], v.commands[ids[i]]
		if second != nil && len(second.publishes) > 0 { // nil: of a foreign history, without an id
			e = second.publishes[0]
		}
		if first != nil && second != nil && len(second.acts) > 0 && len(first.acts) > 0 {
			e = second.acts[0]
		}
		t.bad(e, "key %s: second command %s, first %s", k.key, ids[i], ids[i-1])
	}
}
