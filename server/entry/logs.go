package entry

import (
	"context"

	"github.com/doorlab/doorlab/server/record"
)

// Reader is who reads the records: it goes into the audit log.
type Reader struct{ PlaceID, KeyID, RequestID string }

// LogQuery asks for entry records.
type LogQuery struct {
	SinceDays int // 1..30, 0 = 7
	Limit     int // 1..500, 0 = 100
	Offset    int
}

// Records lists entry records, newest first, and writes who read them to the
// audit log [ENT-4]. Errors (*rule.Error): invalid_query; the store's.
func (s *Service) Records(ctx context.Context, by Reader, q LogQuery) (list []record.Record, total int, err error) {
	panic("soon")
}

// Events lists a place's events, newest first. Errors (*rule.Error):
// invalid_query (period over 30 days or reversed, unknown result or kind); the store's.
func (s *Service) Events(ctx context.Context, placeID string, q record.EventQuery) (list []record.Event, total int, err error) {
	panic("soon")
}
