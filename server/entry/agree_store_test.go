package entry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// memStore is an entry.Store and an executor in memory.
type memStore struct {
	now     int64
	place   place.Place
	doors   []place.Door
	windows []access.Window
	grants  []grant.Grant
	sent    *command.Request
	denied  *record.Record
}

func ms(at int64) time.Time { return time.UnixMilli(at).UTC() }

func (m *memStore) open(token, door string) decision {
	m.sent, m.denied = nil, nil
	_, err := m.service().Open(context.Background(), token, door)
	return m.decided(err)
}

func (m *memStore) call(phone string) (decision, string) {
	m.sent, m.denied = nil, nil
	res, err := m.service().Call(context.Background(), "05011112222", phone)
	return m.decided(err), res.DoorID
}

// service returns a new service, because limits and joined presses aren't part of the decision.
func (m *memStore) service() *entry.Service {
	return entry.New(entry.Config{Clock: fixed{m}, Store: m, Device: m})
}

func (m *memStore) decided(err error) decision {
	switch code := fail.CodeOf(err); {
	case m.sent != nil:
		return decision{true, m.sent.EntryReason, m.sent.GrantID}
	case code == fail.LinkInvalid:
		return decision{reason: vocab.LinkInvalid}
	case m.denied != nil:
		return decision{reason: m.denied.Reason}
	}
	return decision{reason: vocab.Reason(fmt.Sprint("neither sent nor denied: ", err))}
}

func (m *memStore) Execute(_ context.Context, r command.Request) (command.Answer, error) {
	m.sent = &r
	return command.Answer{Result: command.Result{Outcome: vocab.Reported}}, nil
}

func (m *memStore) Place(string) (place.Place, error) { return m.place, nil }

func (m *memStore) PlaceByPhone(string) (place.Place, error) { return m.place, nil }

func (m *memStore) Doors(string) ([]place.Door, error) { return m.doors, nil }

func (m *memStore) AddAudit(record.Audit) error { return errors.New("not asked for") }

func (m *memStore) Policies(_, _ string) ([]access.Window, error) { return m.windows, nil }

// memRecords keeps the denial that is written.
type memRecords struct {
	record.Tx
	m *memStore
}

func (t memRecords) DoorName(string) (string, error) { return "", nil }

func (t memRecords) InsertRecord(r record.Record) (bool, error) { t.m.denied = &r; return true, nil }

func (t memRecords) InsertEvent(record.Event) error { return nil }

func (m *memStore) KeepRecords(fn func(record.Tx, time.Time) error) error {
	return fn(memRecords{m: m}, ms(m.now))
}

func (m *memStore) Door(id string) (place.Door, error) {
	if i := slices.IndexFunc(m.doors, func(d place.Door) bool { return d.ID == id }); i >= 0 {
		return m.doors[i], nil
	}
	return place.Door{}, fail.ErrNotFound
}

func (m *memStore) GrantByLink(hash string) (grant.Grant, error) {
	if i := slices.IndexFunc(m.grants, func(g grant.Grant) bool { return g.LinkHash == hash }); i >= 0 {
		return m.grants[i], nil
	}
	return grant.Grant{}, fail.ErrNotFound
}

func (m *memStore) GrantsOf(_, phone string) (out []grant.Grant, err error) {
	for _, g := range m.grants {
		if g.Phone == phone {
			out = append(out, g)
		}
	}
	return out, nil
}

func (m *memStore) PhoneKey(string) access.PhoneKey { return "" }

func (m *memStore) PressOf(string) (string, error) { return "", errors.New("not asked for") }

// Records has none: the previous service's openings aren't part of the decision either.
func (m *memStore) Records(string, time.Time, int, int) ([]record.Record, int, error) {
	return nil, 0, nil
}

func (m *memStore) Events(string, record.EventQuery) ([]record.Event, int, error) {
	return nil, 0, errors.New("not asked for")
}
