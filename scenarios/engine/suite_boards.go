package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// The files of the built-in suite are written for boards like those of the default world. A world file may describe
// others, and a right server must not be accused because of them: such a file chooses only boards that it can work with,
// and is SKIPPED when there are too few of them in the world.

// longestPermit is the longest permit that files of the built-in suite ask for, in hours, and the contract's longest.
const longestPermit = 720

// defaultPermit is how long a permit lasts whose period the file leaves to the engine, in hours.
const defaultPermit = 73

// permits is the longest permit, in hours, that the file registers for all doors of a place; longestPermit if that can't be
// seen from the file.
func (f *File) permits() (hours int) {
	eachStep(func(s *Step) {
		switch v := s.verb().(type) {
		case *Permit:
			if v.Doors == nil {
				hours = max(hours, period(v.From, v.To))
			}
		case *Bulk:
			hours = max(hours, period(v.From, v.To))
		case *Call:
			path := v.Path.raw
			if (v.Body != nil || v.Raw != nil) && !strings.HasSuffix(path, "/revoke") && (strings.Contains(path, "entry-permits") || strings.HasPrefix(path, "${")) {
				hours = longestPermit
			}
		}
	}, f.Doc.Setup, f.Doc.Steps)
	return hours
}

// period is how many hours lie between two moments of a file.
func period(from, to When) int {
	a, before, err1 := splitMoment(cmp.Or(from.raw, "now-1h"))
	b, after, err2 := splitMoment(cmp.Or(to.raw, "+72h"))
	if err1 != nil || err2 != nil || absolute.MatchString(a) || absolute.MatchString(b) || a != b && a != "now" {
		return longestPermit
	}
	return min(longestPermit, int(math.Ceil((after - before).Abs().Hours())))
}

// needsBoards says which boards a file needs.
func (f *File) needsBoards() string {
	doors, n := "boards with two entry doors on channels 1 and 2", f.Doc.Needs
	if n.Doors > 0 {
		doors = "boards whose first door lets people in"
		if n.Doors > 1 {
			doors = fmt.Sprintf("boards whose first %d doors let people in", n.Doors)
		}
		if n.Entry {
			doors = fmt.Sprintf("boards with %d or more doors, all of them entry doors", n.Doors)
		}
	}
	if n.Entry && n.Doors == 0 {
		doors = "boards all of whose doors let people in"
	}
	if !f.BuiltIn {
		return doors
	}
	switch hours := f.permits(); hours {
	case 0:
		return doors + " and no maximum below 720 h"
	case longestPermit:
		return doors + ", in places with no maximum below 720 h"
	default:
		return fmt.Sprintf("%s and no maximum below 720 h, in places with none below %d h", doors, hours)
	}
}

// choosy reports whether a file can't work with every board.
func (f *File) choosy() bool { return f.BuiltIn || f.Doc.Needs.Doors > 0 || f.Doc.Needs.Entry }

// setting is a place as its operator set it.
type setting struct {
	Doors []doorSetting `json:"doors"`
}

type doorSetting struct {
	DoorID string `json:"doorId"`
	Entry  bool   `json:"entry"`
	Max    int    `json:"entryPermitMaxHours"`
}

// odd reports whether a door isn't for entry, or permits for it must be shorter than least, in hours.
func (s *setting) odd(door string, least int) bool {
	for _, d := range s.Doors {
		if d.DoorID == door {
			return !d.Entry || d.Max < least
		}
	}
	return false
}

// maximum is the shortest maximum of the place's entry doors: that of a permit for all of them.
func (s *setting) maximum() int {
	least := longestPermit
	for _, d := range s.Doors {
		if d.Entry {
			least = min(least, d.Max)
		}
	}
	return least
}

// settings reads the places' settings before the run's first file that can't work with every board.
func (d *directory) settings(ctx context.Context, f *File) error {
	if !f.choosy() || d.run.lab == nil {
		return nil
	}
	return d.readSettings(ctx)
}

// readSettings reads the places' settings, once per run.
func (d *directory) readSettings(ctx context.Context) error {
	if d.set != nil {
		return nil
	}
	set := map[string]*setting{}
	for id := range d.places {
		s, err := d.run.lab.setting(ctx, id)
		if err != nil {
			return err
		}
		set[id] = s
	}
	d.set = set
	return nil
}

// setting reads how a place is set; nil if the listener doesn't say.
func (l *lab) setting(ctx context.Context, id string) (*setting, error) {
	path := "/places/" + esc(id)
	a, err := l.call(ctx, l.main, http.MethodGet, path, nil)
	if err != nil || a.Status == http.StatusNotFound {
		return nil, err
	}
	s := &setting{}
	return s, l.read(a, http.MethodGet, path, s)
}

// suits reports whether a file can choose a board: one of the user's own can choose any, unless it says what it needs.
// Without a control listener nobody says which doors let people in, and for how long.
func (d *directory) suits(f *File, b *boardInfo) bool {
	if !f.choosy() {
		return true
	}
	p, n, least := d.places[b.placeID], f.Doc.Needs, 0
	if f.BuiltIn {
		least = longestPermit
	}
	switch {
	case f.BuiltIn && (p == nil || p.APIKey == ""), len(b.doors) < n.Doors:
		return false
	case f.BuiltIn && n.Doors == 0 && !n.Entry && (len(b.doors) != 2 || !slices.Equal(b.channels, []int{1, 2})):
		return false
	}
	used := b.doors
	if n.Doors > 0 && !n.Entry {
		used = b.doors[:n.Doors]
	}
	s := d.set[b.placeID]
	if s == nil {
		return true
	}
	most := s.maximum()
	long := !f.BuiltIn || most >= longestPermit || most >= f.permits() // reading the file's permits takes longer than all the rest
	return long && !slices.ContainsFunc(used, func(door string) bool { return s.odd(door, least) })
}

// suiting counts the live places with a board that suits a file, or whose boards aren't known. why says which boards do, ""
// if all of them do.
func (d *directory) suiting(f *File) (places int, why string) {
	known, fits := map[string]bool{}, map[string]bool{}
	for _, b := range d.boards {
		known[b.placeID] = true
		if d.suits(f, b) {
			fits[b.placeID] = true
		} else {
			why = ": the file chooses " + f.needsBoards()
		}
	}
	for id, p := range d.places {
		if p.Kind != "test" && (fits[id] || !known[id]) {
			places++
		}
	}
	return places, why
}

// skip marks the steps of a set-up that found too few boards that suit it: the target isn't to blame.
func skip(setup []*StepResult) {
	for _, s := range setup {
		if bad(s.Status) {
			s.Status = judge.Skipped
		}
		skip(s.Children)
	}
}

// least is how few boards a cohort may have. In the built-in suite, which goes by the places and boards of a cohort one by
// one, places and perPlace must be filled, too.
func (c *Cohort) least(x *frame) int {
	least := x.count(c.Expect, max(1, x.count(c.Boards, 1)))
	if x.file.file.BuiltIn && c.Expect == nil && c.Boards == nil {
		least = max(least, x.count(c.Places, 1)*x.count(c.PerPlace, 1))
	}
	return least
}

// few is the error of a cohort that found too few boards. A file that can't work with every board is SKIPPED then, unless the target
// has lost boards with which the cohort would have enough. from are the boards that it chose from.
func (c *Cohort) few(x *frame, cohort string, from []*boardInfo, found, least int) error {
	f := x.file.file
	if !f.choosy() {
		more, target := "", x.file.run.target
		switch {
		case c.From.set() || x.file.run.keysOnly():
		case !target.Shared():
			more = "; --boards or a --world file gives the testbed more"
		case found == 0 && len(target.Control) == 1:
			more = "; if the boards have a process of their own, pass its --control, too"
		}
		return fmt.Errorf("only %s for cohort %s, which needs %d%s", amount.Many(found, "board"), cohort, least, more)
	}
	why := fmt.Sprintf("needs %s: the target has %d for cohort %s, which needs %d", f.needsBoards(), found, cohort, least)
	if c.Kind != "test" && !c.Real {
		lost, err := c.lost(x, from)
		if err != nil {
			return fmt.Errorf("%s; which boards the target has lost can't be read: %w", why, err)
		}
		all := slices.Concat(from, lost)
		sortByID(all)
		if would := c.choose(x, cohort, all); len(would) >= least {
			return errors.New(why + toldLost(lost))
		}
	}
	x.file.few.CompareAndSwap(nil, &why)
	return errors.New(why)
}

// lost are the lost boards that a cohort could choose from beside those it has; with from, those at the places of that cohort.
func (c *Cohort) lost(x *frame, has []*boardInfo) ([]*boardInfo, error) {
	lost, err := x.run.dir.lost(x.ctx, x.file.file)
	if err != nil {
		return nil, err
	}
	out := idsOf(has)
	at := func(string) bool { return true }
	if c.From.set() {
		whole := x.boards(c.From)
		at = func(place string) bool {
			return slices.ContainsFunc(whole, func(b *boardInfo) bool { return b.placeID == place })
		}
	}
	lost = slices.DeleteFunc(lost, func(b *boardInfo) bool { return out[b.id] || !at(b.placeID) })
	return c.fit(x, lost), nil
}

// tooLong is the error of a refused permit whose period the file left to the engine, if the refusal is right: that was
// the engine's mistake, and says nothing about the target. Otherwise it is nil.
func (x *frame) tooLong(place string, a *answer) error {
	if a.Status != http.StatusConflict || a.text("error") != "permit_period_too_long" {
		return nil
	}
	if x.run.lab != nil {
		s, err := x.run.lab.setting((&trace{}).on(x.ctx), place) // the report shows the permit as the step's last request
		if err != nil || s == nil || s.maximum() >= defaultPermit {
			return err
		}
	}
	return fmt.Errorf("the period is longer than a door of the place allows; give from and to (by default now-1h and +72h) (%s)", a.short())
}
