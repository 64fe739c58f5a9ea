package age

import "maps"

// Counts are what a run did. The same seed gives the same counts.
type Counts struct {
	Decisions int            `json:"decisions"` // people at doors and commands: what --entries draws
	Entries   map[string]int `json:"entries"`   // by how: onsite, link, phone, open, hold, close
	Results   map[string]int `json:"results"`   // by how they ended
	Changes   map[string]int `json:"changes"`   // of permits, memberships, hours and so on
	Mishaps   map[string]int `json:"mishaps"`   // outages, reboots, restarts, faults
}

func newCounts() Counts {
	return Counts{Entries: map[string]int{}, Results: map[string]int{}, Changes: map[string]int{}, Mishaps: map[string]int{}}
}

// clone is an independent copy.
func (c Counts) clone() Counts {
	c.Entries, c.Results, c.Changes, c.Mishaps = maps.Clone(c.Entries), maps.Clone(c.Results), maps.Clone(c.Changes), maps.Clone(c.Mishaps)
	return c
}

// since is what was added since an earlier count.
func (c Counts) since(old Counts) Counts {
	out := newCounts()
	out.Decisions = c.Decisions - old.Decisions
	for _, m := range []struct{ out, now, was map[string]int }{{out.Entries, c.Entries, old.Entries}, {out.Results, c.Results, old.Results},
		{out.Changes, c.Changes, old.Changes}, {out.Mishaps, c.Mishaps, old.Mishaps}} {
		for k, n := range m.now {
			if d := n - m.was[k]; d > 0 {
				m.out[k] = d
			}
		}
	}
	return out
}

// add adds another world's.
func (c *Counts) add(o Counts) {
	c.Decisions += o.Decisions
	for _, m := range []struct{ to, from map[string]int }{{c.Entries, o.Entries}, {c.Results, o.Results}, {c.Changes, o.Changes}, {c.Mishaps, o.Mishaps}} {
		for k, n := range m.from {
			m.to[k] += n
		}
	}
}

func sum(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

// did counts something.
func (r *run) did(m func(*Counts) map[string]int, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m(&r.count)[what]++
}

func changes(c *Counts) map[string]int { return c.Changes }
func mishaps(c *Counts) map[string]int { return c.Mishaps }

// entered counts a decision at a door.
func (r *run) entered(how, result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count.Decisions++
	r.count.Entries[how]++
	r.count.Results[result]++
}
