package gateway

import (
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
)

// memStore keeps boards in memory.
type memStore struct {
	mu      sync.Mutex
	states  map[string]board.State
	records []record.Record
	saves   int
	life    int64
	fail    error
}

func (s *memStore) BoardStates() (out []board.State, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.states {
		out = append(out, st)
	}
	return out, s.fail
}

func (s *memStore) SaveBoardStates(list []board.State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	s.saves++
	for _, st := range list {
		s.states[st.BoardID] = st
	}
	return nil
}

func (s *memStore) NextLife() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life++
	return s.life, nil
}

// memRecords stores what record.Keeper writes to it.
type memRecords struct {
	record.Tx
	s *memStore
}

func (t memRecords) DoorName(string) (string, error) { return "", nil }
func (t memRecords) Credited(string, string) (record.Credited, error) {
	return record.Credited{}, nil // not one of the place's grants
}
func (t memRecords) CreditedLink(string, string) (record.Credited, error) {
	return record.Credited{}, nil
}
func (t memRecords) EarlierHolders(string) ([]record.Holder, error) { return nil, nil }
func (t memRecords) InsertEvent(record.Event) error                 { return nil }
func (t memRecords) InsertAudit(record.Audit) error                 { return nil }
func (t memRecords) SaveBoardState(st board.State) error {
	t.s.states[st.BoardID] = st
	return nil
}
func (t memRecords) InsertRecord(r record.Record) (bool, error) {
	t.s.records = append(t.s.records, r)
	return true, nil
}

func (s *memStore) KeepRecords(fn func(record.Tx, time.Time) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	return fn(memRecords{s: s}, time.UnixMilli(1793502000000).Add(time.Minute))
}

// notes lists the notes of all records.
func (s *memStore) notes() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.records {
		out = append(out, r.Note)
	}
	return out
}

func (s *memStore) broken(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// state is the first board's state.
func (s *memStore) state() board.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states["brd_1"]
}

// backs stands in for command and boardsync; it records its calls.
type backs struct {
	mu     sync.Mutex
	told   []string
	reps   []wire.Report
	accept func(wire.Report) (ack, first bool)
	equal  bool
	wrong  string // what Paged, Acked and Digest find wrong
}

func (b *backs) note(format string, v ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, sprintf(format, v...))
}

func (b *backs) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.told, "; ")
}

func (b *backs) Report(boardID string, r wire.Report, ack func(bool)) bool {
	b.note("report %s %s %s", boardID, r.CommandID, r.Result)
	b.mu.Lock()
	accept := b.accept
	b.reps = append(b.reps, r)
	b.mu.Unlock()
	ok, first := true, true
	if accept != nil {
		ok, first = accept(r)
	}
	ack(ok)
	return first
}

func (b *backs) Running(id string) bool { return id != "cmd_unknown" }

func (b *backs) Connected(c board.Hello) {
	b.note("connected %s %d rev %d", c.BoardID, c.Epoch&0xffff, c.Revision)
}
func (b *backs) Paged(id string, epoch, rev int64, page int) string {
	b.note("paged %s %d rev %d page %d", id, epoch&0xffff, rev, page)
	return b.wrong
}

func (b *backs) Acked(id string, epoch, rev int64, digest string) string {
	b.note("acked %s %d rev %d %s", id, epoch&0xffff, rev, digest)
	return b.wrong
}

func (b *backs) Digest(id string, epoch, rev int64, _ string) (bool, string) {
	b.note("digest %s %d rev %d", id, epoch&0xffff, rev)
	return b.equal, b.wrong
}

func (b *backs) Gone(id string, epoch int64) { b.note("gone %s %d", id, epoch&0xffff) }
