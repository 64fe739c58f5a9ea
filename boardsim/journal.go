package boardsim

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
)

// journal is the fleet's ground truth: what each relay did, appended line by line, each in one write before the board's
// report is sent, so that it survives the process. It belongs to the world, not to the board's flash: a wiped board
// keeps its lines.
type journal struct {
	mu   sync.Mutex
	file *os.File // nil = nothing is kept
	size int64
}

// entry is a journal entry as it is stored and shown.
type entry struct {
	Seq  int64
	Boot int
	At   int64 // domain Unix ms
	firmware.Entry
}

// ground is a board's journal. It outlives a wiped flash.
type ground struct {
	entries []entry  // the last ones
	jat     []int64  // offset in the file of each, and of all before them
	jseq    int64    // the last number
	moved   []string // ids of the last commands that moved a relay, see CMD-5
	had     int64    // wall ns at which the command being executed arrived, 0 = none
}

// entryJSON is an entry as written to the file and shown by the control API.
type entryJSON struct {
	Seq          int64           `json:"seq"`
	Boot         int             `json:"boot"`
	At           string          `json:"at"`
	BoardID      string          `json:"boardId"`
	DoorID       string          `json:"doorId"`
	Channel      int             `json:"channel"`
	Action       firmware.Action `json:"action"`
	Cause        firmware.Cause  `json:"cause"`
	PulseMs      int64           `json:"pulseMs,omitempty"` // pulse: how long it is meant to last
	CommandID    *string         `json:"commandId"`
	GrantID      *string         `json:"grantId"`
	Revision     int64           `json:"revision"`
	OutageAgeSec float64         `json:"outageAgeSec"`
}

const (
	// keepEntries is how many lines of a board stay in memory; older ones are read from the file. Without a file all stay.
	keepEntries = 32
	// keepMoves is how many of a board's commands are known to have moved a relay, as many as its firmware remembers.
	keepMoves = firmware.MaxDone
)

func (l entry) view(boardID string) entryJSON {
	return entryJSON{Seq: l.Seq, Boot: l.Boot, At: msTime(l.At).Format(control.TimeFormat), BoardID: boardID, DoorID: l.DoorID, Channel: l.Channel,
		Action: l.Action, Cause: l.Cause, PulseMs: l.PulseMs, CommandID: control.OrNull(l.CommandID), GrantID: control.OrNull(l.GrantID), Revision: l.Revision,
		OutageAgeSec: ageSec(l.OutageAgeMs)}
}

// ageSec shows an outage age; a lost clock is -1.
func ageSec(ms int64) float64 {
	if ms < 0 {
		return -1
	}
	return float64(ms) / 1000
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (v entryJSON) line() entry {
	at, _ := time.Parse(control.TimeFormat, v.At)
	ms := int64(v.OutageAgeSec*1000 + 0.5)
	if v.OutageAgeSec < 0 {
		ms = -1
	}
	return entry{Seq: v.Seq, Boot: v.Boot, At: at.UnixMilli(), Entry: firmware.Entry{DoorID: v.DoorID, Channel: v.Channel, Action: v.Action,
		Cause: v.Cause, PulseMs: v.PulseMs, CommandID: orEmpty(v.CommandID), GrantID: orEmpty(v.GrantID), Revision: v.Revision, OutageAgeMs: ms}}
}

// openJournal reads what previous runs wrote and continues after the last complete line.
func openJournal(dir, name string, boards map[string]*board) (*journal, error) {
	j := &journal{}
	if dir == "" {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, name+".ndjson"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := j.load(file, boards); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j.file = file
	return j, nil
}

func (j *journal) load(file *os.File, boards map[string]*board) error {
	r := bufio.NewReaderSize(file, 1<<16)
	for {
		raw, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // ignore a line cut short by a power failure
			return file.Truncate(j.size)
		}
		if err != nil {
			return err
		}
		var v entryJSON
		if json.Unmarshal(raw, &v) == nil {
			if b := boards[v.BoardID]; b != nil {
				b.keep(v.line(), j.size)
				b.s.Boot = max(b.s.Boot, v.Boot)
			}
		}
		j.size += int64(len(raw))
	}
}

// append writes a line, in one write, and returns its offset.
func (j *journal) append(v entryJSON) (at int64, err error) {
	if j.file == nil {
		return 0, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	at = j.size
	if _, err = j.file.Write(append(raw, '\n')); err != nil {
		_ = j.file.Truncate(at)
		return 0, err
	}
	j.size += int64(len(raw)) + 1
	return at, nil
}

// bytes is the size of the file.
func (j *journal) bytes() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// read returns the line at an offset that append returned.
func (j *journal) read(at int64) (v entryJSON, err error) {
	return v, json.NewDecoder(io.NewSectionReader(j.file, at, 1<<16)).Decode(&v)
}

// Close closes the file.
func (j *journal) Close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// write appends a ground-truth entry, see CMD-6. Called with mu held.
func (b *board) write(e firmware.Entry) entry {
	l := entry{Seq: b.jseq + 1, Boot: b.s.Boot, At: b.f.nowMs(), Entry: e}
	moved, took := clock.WallNow().UnixNano(), int64(0)
	if b.had > 0 && e.Cause == firmware.CauseCommand {
		took = moved - b.had
	}
	at, err := b.f.journal.append(l.view(b.id)) // [CMD-6]
	if err != nil {
		b.f.cfg.Log.Error("the board's journal could not be written", "board", b.id, "error", err)
		at = -1
	}
	if slices.Contains(b.moved, l.moves()) { // ask the journal: the firmware may have forgotten it, see CMD-5
		b.f.count.twice.Add(1)
	}
	b.keep(l, at)
	b.f.count.line(l.Action)
	if b.told {
		return l
	}
	b.f.cfg.History(history.Event{Kind: history.Actuation, At: l.At, WallNs: moved, BoardID: b.id, PlaceID: b.placeID, DoorID: e.DoorID,
		Channel: e.Channel, Boot: l.Boot, JournalSeq: l.Seq, Action: string(e.Action), Cause: string(e.Cause), PulseMs: e.PulseMs,
		CommandID: e.CommandID, GrantID: e.GrantID, Revision: e.Revision, OutageAgeMs: e.OutageAgeMs, LateMs: max(0, l.At+b.shift-e.Mono), TookNs: took})
	return l
}

// moves is the command that an entry moved the relay for, "" if none: a refusal moves nothing.
func (l entry) moves() string {
	if l.Cause != firmware.CauseCommand || l.Action == firmware.ActRefuse {
		return ""
	}
	return l.CommandID
}

// keep remembers a line at an offset in the file; of older lines only the offset.
func (b *board) keep(l entry, at int64) {
	b.jseq = l.Seq
	if len(b.entries) >= keepEntries && b.f.cfg.DataDir != "" {
		if first := len(b.jat) - len(b.entries); b.jat[first] < 0 { // it wasn't written because the disk was full; the history has it
			b.jat = slices.Delete(b.jat, first, first+1)
		}
		b.entries = b.entries[1:]
	}
	b.entries, b.jat = append(b.entries, l), append(b.jat, at)
	if id := l.moves(); id != "" {
		if len(b.moved) == keepMoves {
			b.moved = b.moved[1:]
		}
		b.moved = append(b.moved, id)
	}
}

// lines is the part of the board's journal that offset and limit leave, oldest first; total is how many lines it has. Of
// those that are no longer in memory, only the part's are read from the disk.
func (b *board) lines(limit, offset int) (part []entryJSON, total int, err error) {
	b.mu.Lock()
	total = len(b.jat)
	from, old := min(offset, total), total-len(b.entries)
	to := from + min(limit, total-from)
	onDisk := slices.Clone(b.jat[min(from, old):min(to, old)])
	kept := slices.Clone(b.entries[max(from-old, 0):max(to-old, 0)])
	b.mu.Unlock()
	part = make([]entryJSON, 0, len(onDisk)+len(kept))
	for _, at := range onDisk {
		v, err := b.f.journal.read(at)
		if err != nil {
			return nil, 0, err
		}
		part = append(part, v)
	}
	for _, l := range kept {
		part = append(part, l.view(b.id))
	}
	return part, total, nil
}
