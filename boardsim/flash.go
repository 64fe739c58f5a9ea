package boardsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/wire"
)

// flash is what the boards keep over a reboot and over the process: one
// append-only file for the fleet, written before a board answers. Content that
// boards share is written once. When the file has grown, a new one is begun:
// every board writes itself whole, then the old file goes. Reading takes all
// files that are there, in order.
type flash struct {
	dir, name string

	mu       sync.Mutex
	file     *os.File // nil = nothing is kept
	gen      int
	size     int64
	told     map[string]bool // contents that are in the file, by key
	beat     int64           // domain ms of the last sign of life
	whole    atomic.Bool     // a rotation is under way
	rotating sync.WaitGroup
}

const (
	rotateAt  = 256 << 20
	beatEvery = 60_000
)

// flashLine is one write. What belongs to board B comes in the order of the fields.
type flashLine struct {
	B    string        `json:"b,omitempty"`
	New  bool          `json:"new,omitempty"` // forget what the board wrote before
	Mono int64         `json:"t,omitempty"`   // monotonic ms, of the board or of the whole fleet
	C    *contentLine  `json:"c,omitempty"`
	D    []wire.Report `json:"d,omitempty"` // remembered commands
	R    []wire.Record `json:"r,omitempty"` // buffered records
	S    *coreLine     `json:"s,omitempty"`
}

// contentLine is a place's content: what a Sync makes of the content From ("" = of nothing).
type contentLine struct {
	Key  string    `json:"k"`
	From string    `json:"f,omitempty"`
	Sync wire.Sync `json:"y"`
}

// coreLine is everything small of a board.
type coreLine struct {
	firmware.State
	Content string   `json:"content,omitempty"` // key
	Unacked []string `json:"unacked,omitempty"` // reports the server has not acknowledged
	First   int64    `json:"first"`             // records before it are committed
}

func keyOf(placeID string, c *firmware.Content) string {
	return fmt.Sprintf("%s@%d/%s", placeID, c.Revision, c.Digest())
}

// write keeps parts of a board; before and ch say how its content came about. Called with b.mu held.
func (f *flash) write(b *board, p firmware.Parts, before *firmware.Content, ch *firmware.Change) {
	if f.dir == "" {
		return
	}
	b.dirty = false
	l := flashLine{B: b.id, New: p&firmware.PartAll != 0, Mono: b.f.nowMs() + b.shift}
	switch {
	case p&firmware.PartAll != 0:
		for _, d := range b.s.Done {
			l.D = append(l.D, d.Report)
		}
		l.R = b.s.Records
		p |= firmware.PartCore
	case p&firmware.PartDone != 0:
		l.D = []wire.Report{b.s.Done[len(b.s.Done)-1].Report}
	case p&firmware.PartRecord != 0 && len(b.s.Records) > 0:
		l.R = b.s.Records[len(b.s.Records)-1:]
	}
	if p&firmware.PartCore != 0 {
		l.S = b.core()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if p&(firmware.PartContent|firmware.PartAll) != 0 {
		err = f.content(b, before, ch)
	}
	if err == nil {
		err = f.append(l)
	}
	if err != nil {
		b.f.cfg.Log.Error("flash", "board", b.id, "err", err)
		b.dirty = true
	}
}

func (b *board) core() *coreLine {
	c := &coreLine{State: b.s, Unacked: b.s.Unacked(), First: b.s.Seq + 1}
	if b.s.Content.Revision > 0 {
		c.Content = keyOf(b.placeID, b.s.Content)
	}
	if len(b.s.Records) > 0 {
		c.First = b.s.Records[0].Seq
	}
	return c
}

// content writes the board's content unless the file has it: as the change that
// made it when that is known, else whole.
func (f *flash) content(b *board, before *firmware.Content, ch *firmware.Change) error {
	c := b.s.Content
	l := contentLine{Key: keyOf(b.placeID, c)}
	if c.Revision == 0 || f.told[l.Key] {
		return nil
	}
	if ch != nil && !ch.Sync.Snapshot && f.told[keyOf(b.placeID, before)] {
		l.From, l.Sync = keyOf(b.placeID, before), ch.Sync
	} else {
		l.Sync = c.Snapshot()
	}
	if err := f.append(flashLine{C: &l}); err != nil {
		return err
	}
	f.told[l.Key] = true
	return nil
}

// append is one write. Called with mu held.
func (f *flash) append(l flashLine) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	n, err := f.file.Write(append(raw, '\n'))
	f.size += int64(n)
	return err
}

// tick notes that the fleet is alive and begins a new file when the old one has grown.
func (f *flash) tick(nowMs int64, boards []*board) {
	if f.dir == "" {
		return
	}
	f.mu.Lock()
	if nowMs-f.beat >= beatEvery {
		f.beat = nowMs
		_ = f.append(flashLine{Mono: nowMs})
	}
	grown := f.size > rotateAt
	f.mu.Unlock()
	if grown && f.whole.CompareAndSwap(false, true) {
		f.rotating.Go(func() {
			defer f.whole.Store(false)
			if err := f.renew(boards); err != nil && len(boards) > 0 {
				boards[0].f.cfg.Log.Error("flash", "err", err)
			}
		})
	}
}

// renew begins a new file, has every board write itself whole, and removes the older files.
func (f *flash) renew(boards []*board) error {
	if f.dir == "" {
		return nil
	}
	f.mu.Lock()
	file, err := os.OpenFile(f.path(f.gen+1), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		f.mu.Unlock()
		return err
	}
	old := f.file
	f.file, f.gen, f.size, f.told = file, f.gen+1, 0, map[string]bool{}
	f.mu.Unlock()
	if old != nil {
		err = old.Close()
	}
	for _, b := range boards {
		b.mu.Lock()
		f.write(b, firmware.PartAll, nil, nil)
		b.mu.Unlock()
	}
	for gen := f.gen - 1; gen > 0; gen-- {
		if os.Remove(f.path(gen)) != nil {
			break
		}
	}
	return err
}

func (f *flash) path(gen int) string {
	return filepath.Join(f.dir, fmt.Sprintf("%s-%06d.ndjson", f.name, gen))
}

// wait returns when no rotation is under way.
func (f *flash) wait() { f.rotating.Wait() }

// Close closes the file.
func (f *flash) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// files are the generations that are there, oldest first.
func (f *flash) files() ([]int, error) {
	names, err := filepath.Glob(filepath.Join(f.dir, f.name+"-[0-9][0-9][0-9][0-9][0-9][0-9].ndjson"))
	if err != nil {
		return nil, err
	}
	var out []int
	for _, n := range names {
		var gen int
		base := filepath.Base(n)
		if _, err := fmt.Sscanf(base[len(f.name):], "-%06d.ndjson", &gen); err != nil {
			return nil, errors.New("not a flash file: " + base)
		}
		out = append(out, gen)
	}
	slices.Sort(out)
	return out, nil
}
