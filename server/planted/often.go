package planted

import (
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Bugs of who pays for the repeats of others, and of what is found by a name or a number.

// together are limits that count everybody at a place, not each by himself.
type together struct{ presses, calls *limit.Window }

func newTogether() together {
	return together{limit.New(60, time.Minute), limit.New(6, time.Minute)}
}

// countedTx keeps the records of people while there is room for them.
type countedTx struct {
	recordTx
	together
	now time.Time
}

func (t countedTx) InsertRecord(r record.Record) (bool, error) {
	if r.Result == vocab.Denied {
		switch {
		case t.name == "refused-presses-count-together" && r.Method == vocab.Link:
			if ok, retry := t.presses.Allow(r.PlaceID, t.now); !ok {
				return false, &fail.Error{Code: fail.RateLimited, Message: "too many refused attempts", RetryAfter: retry}
			}
		case t.name == "refused-calls-recorded-by-place" && r.Method == vocab.Phone:
			if ok, _ := t.calls.Allow(r.PlaceID, t.now); !ok {
				return false, nil
			}
		}
	}
	return t.recordTx.InsertRecord(r)
}

// numbered is the place that a number was first seen at.
func (s entryStore) numbered(number string, p place.Place, err error) (place.Place, error) {
	if id, known := s.doors.Load("number " + number); known {
		return s.Store.Place(id.(string))
	}
	if err == nil {
		s.doors.Store("number "+number, p.ID)
	}
	return p, err
}

// longInBytes refuses a name that is too long only when its bytes are counted.
func longInBytes(name *string) error {
	if name != nil && len(*name) > 100 && utf8.RuneCountInString(*name) <= 100 {
		return fail.Invalid("name", "must have 0 to 100 characters")
	}
	return nil
}

// ChangeBehind is how imports write.
func (s grantStore) ChangeBehind(fn func(tx grant.Tx) error) error {
	return s.Store.ChangeBehind(func(tx grant.Tx) error { return fn(grantTx{tx, s.name}) })
}

func (t grantTx) CustomerByPhone(placeID, source, phone string) (grant.Customer, error) {
	c, err := t.Tx.CustomerByPhone(placeID, source, phone)
	if err == nil && t.name == "nameless-customer-not-taken-over" && c.Name == "" {
		return grant.Customer{}, fail.ErrNotFound
	}
	return c, err
}
