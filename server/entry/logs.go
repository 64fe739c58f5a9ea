package entry

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/record"
)

// LogQuery asks for entry records.
type LogQuery struct {
	SinceDays int // 1..30, 0 = 7
	Limit     int // 1..500, 0 = 100
	Offset    int
}

// Bounds of queries.
const (
	defaultSince  = 7
	maxSince      = 30
	defaultLimit  = 100
	maxLimit      = 500
	day           = 24 * time.Hour
	defaultPeriod = day
	maxPeriod     = 30 * day
	onTheWay      = time.Minute // a caller's "30 days ago" is slightly older when it arrives
	maxValues     = 200         // of a list in a query
)

func invalidQuery(field, why string) error {
	return fail.New(fail.InvalidQuery, field+" "+why, "field", field)
}

func paging(limit, offset *int) error {
	if *limit = cmp.Or(*limit, defaultLimit); *limit < 1 || *limit > maxLimit {
		return invalidQuery("limit", fmt.Sprintf("must be 1 to %d", maxLimit))
	}
	if *offset < 0 {
		return invalidQuery("offset", "must not be negative")
	}
	return nil
}

// Records lists entry records, newest first. Before it returns them it writes to the audit log who read them, see
// ENT-4. Errors (*fail.Error): invalid_query; the store's.
func (s *Service) Records(by record.By, q LogQuery) (list []record.Record, total int, err error) {
	q.SinceDays = cmp.Or(q.SinceDays, defaultSince)
	if q.SinceDays < 1 || q.SinceDays > maxSince {
		return nil, 0, invalidQuery("sinceDays", fmt.Sprintf("must be 1 to %d", maxSince))
	}
	if err := paging(&q.Limit, &q.Offset); err != nil {
		return nil, 0, err
	}
	now := s.cfg.Clock.Now()
	list, total, err = s.cfg.Store.Records(by.PlaceID, now.Add(-time.Duration(q.SinceDays)*day), q.Limit, q.Offset)
	if err != nil {
		return nil, 0, err
	}
	err = s.cfg.Store.AddAudit(record.Audit{At: now, PlaceID: by.PlaceID, KeyID: by.KeyID, RequestID: by.RequestID, Action: "entry-logs.read", // [ENT-4]
		Detail: fmt.Sprintf("sinceDays=%d limit=%d offset=%d", q.SinceDays, q.Limit, q.Offset), Count: len(list)})
	return list, total, err // an error discards the list: nobody reads without an audit row
}

// Events lists a place's events, newest first. Errors (*fail.Error):
// invalid_query (period over 30 days or reversed, unknown result or kind); the store's.
func (s *Service) Events(placeID string, q record.EventQuery) (list []record.Event, total int, err error) {
	if err := paging(&q.Limit, &q.Offset); err != nil {
		return nil, 0, err
	}
	for _, r := range q.Results {
		if r := vocab.Result(r); r != vocab.Opened && r != vocab.Denied {
			return nil, 0, invalidQuery("result", "must be opened or denied")
		}
	}
	for _, k := range q.Kinds {
		if !slices.Contains([]string{record.EntryOpened, record.EntryDenied, record.PermitUsed}, k) {
			return nil, 0, invalidQuery("kind", "must be entry.opened, entry.denied or entry.permit.used")
		}
	}
	for field, l := range map[string]*[]string{"result": &q.Results, "kind": &q.Kinds, "doorId": &q.DoorIDs, "permitId": &q.PermitIDs} {
		if *l = slices.Compact(slices.Sorted(slices.Values(*l))); len(*l) > maxValues {
			return nil, 0, invalidQuery(field, fmt.Sprintf("must have at most %d values", maxValues))
		}
	}
	now := s.cfg.Clock.Now()
	to, most := q.To, maxPeriod
	if to.IsZero() {
		to, most = now, maxPeriod+onTheWay
		q.To = now.Add(time.Millisecond) // To is exclusive: include what is recorded in this millisecond
	}
	if q.From.IsZero() {
		q.From = to.Add(-defaultPeriod)
	}
	if to.Before(q.From) {
		return nil, 0, invalidQuery("from", "must not be after to")
	}
	if to.Sub(q.From) > most {
		return nil, 0, invalidQuery("from", "must be at most 30 days before to")
	}
	return s.cfg.Store.Events(placeID, q)
}
