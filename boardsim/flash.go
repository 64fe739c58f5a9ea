package boardsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/wire"
)

// flash is what the boards keep across reboots and restarts of the process: one append-only file for the whole fleet,
// written before a board answers. Content that boards share is written once. When the file has grown, a new one is
// started: every board writes its whole state, then the old file is deleted. A new process reads all existing files in
// order; a reboot reads the board's lines. A board that could not write owes its whole state, see board.owed.
type flash struct {
	dir, name string // dir "" = in memory

	mu       sync.Mutex
	files    map[int]file // by generation
	gen      int          // the generation that is written
	size     int64        // of its file
	torn     bool         // the last write failed and may have left part of a line
	contents map[string]keptAt
	lines    map[string][]span  // by board, since it last wrote its whole state
	rebuilt  map[string]rebuilt // by place, what a reboot last read back
	beat     int64              // domain ms of the last sign of life
	whole    atomic.Bool        // a rotation is in progress
	rotating sync.WaitGroup
}

// file holds one generation.
type file interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// keptAt is where a content is, and the length of the chain of changes that leads to it.
type keptAt struct {
	span
	chain int
}

// rebuilt is a content that was read back.
type rebuilt struct {
	key     string
	content *firmware.Content
}

// span is where a line is.
type span struct {
	gen int
	at  int64
	n   int
}

const (
	rotateAt       = 256 << 20
	rotateMemoryAt = 16 << 20
	beatEvery      = 60_000
)

// memory is a file in memory.
type memory struct{ b []byte }

func (m *memory) Write(p []byte) (int, error)            { m.b = append(m.b, p...); return len(p), nil }
func (m *memory) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(m.b).ReadAt(p, at) }
func (m *memory) Close() error                           { return nil }

// flashLine is one write. The parts of board B apply in the order of the fields.
type flashLine struct {
	B    string        `json:"b,omitempty"`
	New  bool          `json:"new,omitempty"` // forget what the board wrote before
	Mono int64         `json:"t,omitempty"`   // monotonic ms, of the board or of the whole fleet
	C    *contentLine  `json:"c,omitempty"`
	D    []wire.Report `json:"d,omitempty"` // remembered commands
	R    []wire.Record `json:"r,omitempty"` // buffered records
	S    *coreLine     `json:"s,omitempty"`
}

// contentLine is a place's content: the result of applying a Sync to the content From ("" = to nothing).
type contentLine struct {
	Key  string    `json:"k"`
	From string    `json:"f,omitempty"`
	Sync wire.Sync `json:"y"`
}

// coreLine is all of a board's small state.
type coreLine struct {
	firmware.State
	Content string   `json:"content,omitempty"` // key
	Unacked []string `json:"unacked,omitempty"` // reports the server has not acknowledged
	First   int64    `json:"first"`             // records before it are committed
}

func keyOf(placeID string, c *firmware.Content) string {
	return placeID + "@" + strconv.FormatInt(c.Revision, 10) + "/" + c.Digest()
}

// write writes parts of a board's state, and all of it after a write that failed; before and ch say how its content came
// about. Called with b.mu held.
func (f *flash) write(b *board, p firmware.Parts, before *firmware.Content, ch *firmware.Change) error {
	p |= b.owed & firmware.PartAll
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
		var at span
		if at, err = f.append(l); err == nil {
			if l.New {
				f.lines[b.id] = nil
			}
			f.lines[b.id] = append(f.lines[b.id], at)
		}
	}
	if err != nil {
		b.f.cfg.Log.Error("the board's flash could not be written", "board", b.id, "error", err)
		b.owed = firmware.PartAll
		return err
	}
	b.owed &^= p
	return nil
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

// content writes the board's content unless the file has it: as the change that produced it if that is known, else
// whole.
func (f *flash) content(b *board, before *firmware.Content, ch *firmware.Change) error {
	c := b.s.Content
	l := contentLine{Key: keyOf(b.placeID, c)}
	if c.Revision == 0 || f.has(l.Key) {
		return nil
	}
	chain := 1
	if ch != nil && !ch.Sync.Snapshot && f.has(keyOf(b.placeID, before)) {
		l.From, l.Sync = keyOf(b.placeID, before), ch.Sync
		chain += f.contents[l.From].chain
	} else {
		l.Sync = c.Snapshot()
	}
	at, err := f.append(flashLine{C: &l})
	if err == nil {
		f.contents[l.Key] = keptAt{at, chain}
	}
	return err
}

// has reports whether the current file holds a content.
func (f *flash) has(key string) bool {
	at, ok := f.contents[key]
	return ok && at.gen == f.gen
}

// append performs one write. Called with mu held.
func (f *flash) append(l flashLine) (span, error) {
	raw, err := json.Marshal(l)
	if err != nil {
		return span{}, err
	}
	raw = append(raw, '\n')
	whole := int64(len(raw))
	if f.torn { // make what is left of the last line a line of its own, which no reader understands
		raw = append([]byte{'\n'}, raw...)
	}
	n, err := f.files[f.gen].Write(raw)
	f.size, f.torn = f.size+int64(n), err != nil
	return span{f.gen, f.size - whole, int(whole)}, err
}

// read reads a line back. Called with mu held.
func (f *flash) read(at span) (l flashLine, err error) {
	raw := make([]byte, at.n)
	if _, err = f.files[at.gen].ReadAt(raw, at.at); err == nil {
		err = json.Unmarshal(raw, &l)
	}
	return l, err
}

// tick notes that the fleet is alive, and starts a new file when the current one has grown.
func (f *flash) tick(nowMs int64, boards []*board) {
	f.mu.Lock()
	if nowMs-f.beat >= beatEvery {
		f.beat = nowMs
		_, _ = f.append(flashLine{Mono: nowMs})
	}
	grown := f.size > rotateAt || f.dir == "" && f.size > rotateMemoryAt
	f.mu.Unlock()
	if grown && f.whole.CompareAndSwap(false, true) {
		f.rotating.Go(func() {
			defer f.whole.Store(false)
			if err := f.renew(boards); err != nil && len(boards) > 0 {
				boards[0].f.cfg.Log.Error("the boards' flash could not be rewritten", "error", err)
			}
		})
	}
}

// renew starts a new file, has every board write its whole state, and deletes the older files. It ends with the first
// write that fails: the older files are still needed then. Errors: the file system's.
func (f *flash) renew(boards []*board) error {
	next, err := f.create(f.gen + 1)
	if err != nil {
		return err
	}
	return f.rotate(next, boards)
}

// rotate is renew with the new file.
func (f *flash) rotate(next file, boards []*board) (err error) {
	f.mu.Lock()
	f.gen, f.size, f.torn = f.gen+1, 0, false
	f.files[f.gen] = next
	f.mu.Unlock()
	for _, b := range boards {
		b.mu.Lock()
		err := f.write(b, firmware.PartAll, nil, nil)
		b.mu.Unlock()
		if err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.contents, func(_ string, at keptAt) bool { return at.gen < f.gen })
	for gen, old := range f.files {
		if gen < f.gen {
			err = errors.Join(err, old.Close())
			delete(f.files, gen)
		}
	}
	for gen := f.gen - 1; gen > 0 && f.dir != ""; gen-- {
		if os.Remove(f.path(gen)) != nil {
			break
		}
	}
	return err
}

func (f *flash) create(gen int) (file, error) {
	if f.dir == "" {
		return &memory{}, nil
	}
	return os.OpenFile(f.path(gen), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
}

func (f *flash) path(gen int) string {
	return filepath.Join(f.dir, fmt.Sprintf("%s-%06d.ndjson", f.name, gen))
}

// wait returns when no rotation is in progress.
func (f *flash) wait() { f.rotating.Wait() }

// Close closes the files.
func (f *flash) Close() (err error) {
	for _, file := range f.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

// generations lists the existing ones, oldest first.
func (f *flash) generations() ([]int, error) {
	names, err := fs.Glob(os.DirFS(f.dir), f.name+"-[0-9][0-9][0-9][0-9][0-9][0-9].ndjson") // the directory is no pattern
	if err != nil {
		return nil, err
	}
	var out []int
	for _, base := range names {
		var gen int
		if _, err := fmt.Sscanf(base[len(f.name):], "-%06d.ndjson", &gen); err != nil {
			return nil, errors.New("not a flash file: " + base)
		}
		out = append(out, gen)
	}
	slices.Sort(out)
	return out, nil
}
