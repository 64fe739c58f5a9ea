package console

import (
	"net/http"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/record"
)

// auditView is one line of the audit log.
type auditView struct {
	At      string `json:"at"`
	PlaceID string `json:"placeId"`
	KeyID   string `json:"keyId"` // "" for an operator
	Action  string `json:"action"`
	Detail  string `json:"detail"`
	Count   int    `json:"count"` // rows read or imported
}

// maxAudits is the largest page of the audit log.
const maxAudits = 500

// audit lists who read or changed what, newest first, with ?placeId= of one place.
func (c Config) audit(w http.ResponseWriter, r *http.Request) {
	limit, offset, ok := control.Page(w, r, maxAudits)
	if !ok {
		return
	}
	placeID := r.URL.Query().Get("placeId")
	if placeID != "" {
		if _, err := c.Places.GateConfig(placeID); err != nil {
			refuse(w, c.noPlace(placeID, err))
			return
		}
	}
	list, total, err := c.Audits(placeID, limit, offset)
	if err != nil {
		refuse(w, err)
		return
	}
	control.List(w, each.Of(list, func(a record.Audit) auditView {
		return auditView{At: a.At.UTC().Format(control.TimeFormat), PlaceID: a.PlaceID, KeyID: a.KeyID, Action: a.Action, Detail: a.Detail, Count: a.Count}
	}), total)
}
