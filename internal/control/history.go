package control

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/history"
)

// HistoryRoute mounts GET /history: every event of the run, one JSON object per line; ?since= skips events up to a
// sequence number. POST and DELETE /history/recording call record when a run begins and ends; the answer says where in
// the recording the run begins.
func HistoryRoute(r chi.Router, writeSince func(w io.Writer, since int64) error, record func(on bool) (history.Position, error)) {
	set := func(on bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			from, err := record(on)
			if err != nil {
				Fail(w, http.StatusServiceUnavailable, "storage_unavailable", "the recording can't begin: "+err.Error(), nil)
				return
			}
			if !on {
				Data(w, map[string]any{"recording": false})
				return
			}
			Data(w, map[string]any{"recording": true, "id": from.Recording, "seq": from.Seq})
		}
	}
	r.Post("/history/recording", set(true))
	r.Delete("/history/recording", set(false))
	r.Get("/history", func(w http.ResponseWriter, r *http.Request) {
		var since int64
		if s := r.URL.Query().Get("since"); s != "" {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < 0 {
				Fail(w, http.StatusBadRequest, "invalid_query", "since must be a sequence number, 0 or more", map[string]any{"field": "since"})
				return
			}
			since = n
		}
		out := &ndjson{to: w}
		switch err := writeSince(out, since); {
		case out.begun: // the missing last line says that it broke off
		case err == nil:
			w.Header().Set("Content-Type", ndjsonType)
		default:
			Fail(w, http.StatusServiceUnavailable, "storage_unavailable", "the recording can't be read: "+err.Error(), nil)
		}
	})
}

const ndjsonType = "application/x-ndjson"

// sinceHeader says when the recording began: a history begins with the state at that moment, and what happened earlier is
// missing.
const sinceHeader = "Doorlab-Recording-Since"

// ndjson is an answer of many lines, whose header goes out with the first of them.
type ndjson struct {
	to    http.ResponseWriter
	begun bool
}

// Began implements history.Dated.
func (n *ndjson) Began(unixNs int64) {
	n.to.Header().Set(sinceHeader, time.Unix(0, unixNs).UTC().Format(TimeFormat))
}

// Write implements io.Writer.
func (n *ndjson) Write(p []byte) (int, error) {
	if !n.begun {
		n.begun = true
		n.to.Header().Set("Content-Type", ndjsonType)
	}
	return n.to.Write(p)
}
