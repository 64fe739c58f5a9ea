package boardsim

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/wire"
)

// loaded is what flash holds of a board.
type loaded struct {
	core    *coreLine
	mono    int64
	done    []firmware.Done
	records []wire.Record
}

// openFlash reads what previous runs kept and sets the boards to it: for them, the end of the process was a reboot. now
// is domain ms.
func openFlash(dir, name string, boards map[string]*board, now int64) (*flash, error) {
	f := &flash{dir: dir, name: name, beat: now, files: map[int]file{}, contents: map[string]keptAt{}, lines: map[string][]span{}, rebuilt: map[string]rebuilt{}}
	if dir == "" {
		return f, nil
	}
	gens, err := f.generations()
	if err != nil {
		return nil, err
	}
	r := reader{boards: map[string]*loaded{}, contents: map[string]contentLine{}}
	for _, gen := range gens {
		if err := r.file(f.path(gen)); err != nil {
			return nil, err
		}
		f.gen = gen
	}
	made := map[string]*firmware.Content{}
	for id, l := range r.boards {
		if b := boards[id]; b != nil && l.core != nil {
			b.restore(l, r.alive, now, r.content(made, l.core.Content))
		}
	}
	return f, nil
}

// reader collects the lines of flash files.
type reader struct {
	boards   map[string]*loaded
	contents map[string]contentLine
	alive    int64 // the fleet's last sign of life, mono
}

func (r *reader) file(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReaderSize(file, 1<<16)
	for {
		raw, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // ignore a line cut short
			return nil
		}
		if err != nil {
			return err
		}
		var l flashLine
		if json.Unmarshal(raw, &l) == nil {
			r.line(l)
		}
	}
}

func (r *reader) line(l flashLine) {
	r.alive = max(r.alive, l.Mono)
	if l.C != nil {
		r.contents[l.C.Key] = *l.C
	}
	if l.B == "" {
		return
	}
	b := r.boards[l.B]
	if b == nil || l.New {
		b = &loaded{}
		r.boards[l.B] = b
	}
	b.mono = l.Mono
	for _, d := range l.D {
		b.done = append(b.done, firmware.Done{Report: d})
	}
	if len(b.done) > 2*firmware.MaxDone {
		b.done = slices.Clone(b.done[len(b.done)-firmware.MaxDone:])
	}
	b.records = append(b.records, l.R...)
	if l.S == nil {
		return
	}
	b.core = l.S
	for i := range b.done {
		b.done[i].Acked = !slices.Contains(l.S.Unacked, b.done[i].Report.CommandID)
	}
	b.records = slices.DeleteFunc(b.records, func(r wire.Record) bool { return r.Seq < l.S.First })
}

// content rebuilds a content from the lines that led to it. If one is missing, the board has no content and asks for
// everything at its next hello.
func (r *reader) content(made map[string]*firmware.Content, key string) *firmware.Content {
	if key == "" {
		return &firmware.Content{}
	}
	if c := made[key]; c != nil {
		return c
	}
	var chain []*firmware.Change
	var base *firmware.Content
	for k := key; base == nil; {
		l, ok := r.contents[k]
		if !ok || len(chain) == len(r.contents) {
			chain = nil
			break
		}
		chain = append(chain, firmware.Prepare(l.Sync))
		if l.From == "" {
			break
		}
		k = l.From
		base = made[k]
	}
	slices.Reverse(chain)
	made[key] = firmware.ApplyAll(base, chain...)
	return made[key]
}

// stored is the state that flash holds; whatever was only in memory is lost.
func (b *board) stored(l *loaded, c *firmware.Content) firmware.State {
	s := l.core.State
	s.BoardID, s.PlaceID, s.Content = b.id, b.placeID, c
	s.Doors = merge(s.Doors, b.channels)
	if s.Netloss.Channels == nil {
		s.Netloss = b.s.Netloss
	}
	s.Done = l.done[max(0, len(l.done)-firmware.MaxDone):]
	s.Records = l.records[max(0, len(l.records)-firmware.MaxRecords):]
	if n := len(s.Records); n > 0 {
		s.Seq = max(s.Seq, s.Records[n-1].Seq)
	}
	return s
}

// restore sets the board of a new process to what its flash holds, rebooted.
func (b *board) restore(l *loaded, alive, now int64, c *firmware.Content) {
	s := b.stored(l, c)
	s.Boot = max(s.Boot, b.s.Boot) + 1
	if s.Outage.Online { // the process died while connected: count from its last sign of life
		s.Outage.Online, s.Outage.Contact = false, max(alive, l.mono)
	}
	for i := range s.Doors {
		s.Doors[i].PulseEnd = 0
	}
	b.shift = max(0, max(alive, l.mono)-now) // never goes back, even if the machine's clock did
	b.s = s
}

// powerCut drops what the board has in memory and reads back what its flash holds, see CMD-6. ok is false if that is
// nothing. Called with mu held.
func (b *board) powerCut() (ok bool) {
	l, c, err := b.f.flash.recall(b)
	if err != nil {
		b.f.cfg.Log.Error("the board's flash could not be read", "board", b.id, "error", err)
	}
	now := b.f.cfg.Clock.Now().UnixMilli()
	s := firmware.New(b.id, b.placeID, b.channels, now, now+b.shift)
	if l != nil {
		s = b.stored(l, c)
	}
	s.Boot = max(s.Boot, b.s.Boot)
	for i := range s.Doors { // the leaf's position comes from a sensor
		s.Doors[i].LeafOpen = b.s.Doors[i].LeafOpen
		s.Doors[i].PulseEnd = b.s.Doors[i].PulseEnd // so that Reboot reports the relay's release
	}
	if was, is := b.s.Outage.Online, s.Outage.Online; was != is {
		b.f.online.Add(map[bool]int64{true: 1, false: -1}[is])
	}
	b.s, b.owed = s, 0 // [CMD-6]
	return l != nil
}

// longChain is how many changes a reboot reads back at most: longer ones would hold up the other boards.
const longChain = 2000

// recall reads what the file holds of a board; nil = nothing. Boards of a place that restart with the same content share
// it. If a long chain of changes leads to the content, the board keeps the one that it has in memory, provided that its
// key, which includes the digest, is the same. Called with b.mu held.
func (f *flash) recall(b *board) (*loaded, *firmware.Content, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := reader{boards: map[string]*loaded{}, contents: map[string]contentLine{}}
	for _, at := range f.lines[b.id] {
		l, err := f.read(at)
		if err != nil {
			return nil, nil, err
		}
		r.line(l)
	}
	l := r.boards[b.id]
	if l == nil || l.core == nil {
		return nil, nil, nil
	}
	key := l.core.Content
	if last := f.rebuilt[b.placeID]; last.key == key && last.content != nil {
		return l, last.content, nil
	}
	if f.contents[key].chain > longChain && key == keyOf(b.placeID, b.s.Content) {
		return l, b.s.Content, nil
	}
	for k := key; k != ""; k = r.contents[k].From {
		at, kept := f.contents[k]
		if _, seen := r.contents[k]; !kept || seen {
			break
		}
		line, err := f.read(at.span)
		if err != nil {
			return nil, nil, err
		}
		r.line(line)
	}
	c := r.content(map[string]*firmware.Content{}, key)
	f.rebuilt[b.placeID] = rebuilt{key, c}
	return l, c, nil
}

// merge keeps the stored doors in the world's order; a new channel starts empty.
func merge(stored, world []firmware.Door) []firmware.Door {
	out := slices.Clone(world)
	for i, d := range out {
		if j := slices.IndexFunc(stored, func(s firmware.Door) bool { return s.Channel == d.Channel }); j >= 0 {
			out[i] = stored[j]
		}
	}
	return out
}
