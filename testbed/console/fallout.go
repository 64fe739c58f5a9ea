package console

import (
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// fallout is what fell due in a jump of virtual time.
type fallout struct {
	mu    sync.Mutex
	kinds map[string]*due
}

// due is one kind of what fell due: how often, and when first.
type due struct {
	Word  string // key of its text
	Count int
	First time.Time // domain time
}

// add counts an event of a jump.
func (o *fallout) add(e history.Event) {
	word := ""
	switch e.Kind {
	case history.Actuation:
		word = "due.relay"
		switch e.Cause {
		case "command", "onsite":
			word = "due.moved"
		case "hold_end", "outage":
			word = "due." + e.Cause
		}
	case history.Released, history.Offline, history.Online, history.Applied, history.Committed, history.Presented:
		word = "due." + e.Kind
	}
	if word == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	d := each.Made(o.kinds, word, func() *due { return &due{Word: word, First: time.UnixMilli(e.At).UTC()} })
	d.Count++
}

// list is what fell due, in the order in which it first did.
func (o *fallout) list() (out []due) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.kinds {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b due) int { return a.First.Compare(b.First) })
	return out
}

// watchJump collects what falls due until done is called. Somebody else may ask for a jump meanwhile, and be refused: each
// has a list of its own.
func (f *Feed) watchJump() (done func() []due) {
	o := &fallout{kinds: map[string]*due{}}
	f.jumpMu.Lock()
	defer f.jumpMu.Unlock()
	f.jumping.Store(append(slices.Clone(f.watchers()), o))
	return func() []due {
		f.jumpMu.Lock()
		defer f.jumpMu.Unlock()
		f.jumping.Store(slices.DeleteFunc(slices.Clone(f.watchers()), func(x *fallout) bool { return x == o }))
		return o.list()
	}
}

// watchers are the lists of all jumps in progress.
func (f *Feed) watchers() []*fallout {
	all, _ := f.jumping.Load().([]*fallout)
	return all
}
