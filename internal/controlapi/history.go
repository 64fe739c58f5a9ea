package controlapi

import (
	"io"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
)

// HistoryRoute mounts GET /history: every event of the run, one JSON object a
// line; ?since= a sequence number leaves out what came up to it.
func HistoryRoute(r chi.Router, writeSince func(w io.Writer, since int64) error) {
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
		w.Header().Set("Content-Type", "application/x-ndjson")
		_ = writeSince(w, since) // the caller hung up
	})
}
