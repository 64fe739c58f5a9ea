package boardsim

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
)

// Seat is what the server knows about the real board that replaces a detached one.
type Seat struct {
	Online          bool              `json:"online"`
	Since           int64             `json:"since"` // domain Unix ms of the last change, 0 = never said hello
	AppliedRevision int64             `json:"appliedRevision"`
	BufferedRecords int               `json:"bufferedRecords"`
	DroppedRecords  int               `json:"droppedRecords"`
	Dropped         map[string]int64  `json:"dropped"` // uplinks that the server dropped, by reason
	Troubles        []control.Trouble `json:"troubles"`
	Standings       []wire.Standing   `json:"standings"` // as reported
}

// absent is the list of detached boards, kept across restarts.
type absent struct {
	mu   sync.Mutex
	path string // "" = not kept
	ids  []string
}

// Detached lists the boards that an unsliced fleet with that data directory leaves to real ones.
func Detached(dir string) ([]string, error) {
	a, err := openAbsent(dir, "detached")
	return a.ids, err
}

// openAbsent reads the list. It returns an error if the file can't be read.
func openAbsent(dir, name string) (*absent, error) {
	a := &absent{}
	if dir == "" {
		return a, nil
	}
	a.path = filepath.Join(dir, name+".json")
	raw, err := os.ReadFile(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &a.ids)
	}
	return a, err
}

// set puts a board on the list or removes it. If the change can't be stored, nothing changes.
func (a *absent) set(id string, away bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := slices.DeleteFunc(slices.Clone(a.ids), func(s string) bool { return s == id })
	if away {
		ids = append(ids, id)
	}
	if a.path != "" {
		raw, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		if err := datadir.Write(a.path, raw); err != nil {
			return err
		}
	}
	a.ids = ids
	return nil
}

// detach takes the simulated board away and answers with a real board's login. A test place's boards can't be detached:
// a test key must never move anything real.
func (f *Fleet) detach(w http.ResponseWriter, _ *http.Request, b *board) {
	if b.test {
		control.Fail(w, http.StatusConflict, "rule_violated", "the boards of a test place are virtual and always online: no real one can take their place", nil)
		return
	}
	if err := f.absent.set(b.id, true); err != nil {
		control.Fail(w, http.StatusInternalServerError, "internal_error", "the board stays: "+err.Error(), nil)
		return
	}
	b.mu.Lock()
	if !b.stopped {
		b.stopped = true
		b.detached.Store(true)
		b.emit(history.Event{Kind: history.Detached})
	}
	s := b.leave()
	b.mu.Unlock()
	bye(s)
	addr := ""
	if f.cfg.Addr != nil {
		addr = f.cfg.Addr()
	}
	control.Data(w, map[string]any{"mqtt": addr, "clientId": b.id, "username": b.id, "password": *b.password.Load()})
}

// SetPassword sets the password for a board's next connections.
func (f *Fleet) SetPassword(boardID, password string) {
	if b := f.byID[boardID]; b != nil {
		b.password.Store(&password)
	}
}

// attach brings the simulated board back; it boots as after a power failure. One that was told things comes back empty,
// because what it was told may never have been true.
func (f *Fleet) attach(w http.ResponseWriter, _ *http.Request, b *board) {
	if err := f.absent.set(b.id, false); err != nil {
		control.Fail(w, http.StatusInternalServerError, "internal_error", "the board stays away: "+err.Error(), nil)
		return
	}
	b.mu.Lock()
	if wiped := b.told; (b.stopped || wiped) && f.ctx.Err() == nil {
		s := b.unplug()
		b.stopped, b.told, b.alone, b.meanwhile = false, false, false, nil
		b.detached.Store(false)
		b.emit(history.Event{Kind: history.Attached})
		b.announce()
		b.lineBad = blocked(f.faults.Line(b.id))
		event := ""
		if wiped {
			event = history.Wiped
		}
		b.boot(s, event, false)
	}
	b.mu.Unlock()
	b.flush()
	control.Data(w, b.view())
}

// phaseOf is online or, because nobody knows a real board's clock, stopped.
func phaseOf(s Seat) string {
	if s.Online {
		return firmware.PhaseOnline
	}
	return firmware.PhaseStopped
}

// seated replaces the detached board's own state in a view by what the server knows.
func (b *board) seated(v *control.Board) {
	var seat Seat
	if b.f.cfg.Seat != nil {
		seat = b.f.cfg.Seat(b.id)
	}
	v.Detached, v.Online, v.AppliedRevision = true, seat.Online, seat.AppliedRevision
	v.BufferedRecords, v.DroppedRecords, v.Boot = seat.BufferedRecords, seat.DroppedRecords, 0
	v.Phase, v.OutageAgeSec = phaseOf(seat), 0
	if !seat.Online && seat.Since > 0 {
		v.OutageAgeSec = ageSec(max(0, b.f.nowMs()-seat.Since))
	}
	for i, d := range v.Doors {
		v.Doors[i].Standing = nil
		for _, s := range seat.Standings {
			if s.Channel == d.Channel {
				v.Doors[i].Standing = standingOf(s)
			}
		}
	}
}
