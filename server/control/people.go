package control

import (
	"net/http"

	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/server/rule"
)

func (c Config) call(w http.ResponseWriter, r *http.Request) {
	var b struct {
		To   *string `json:"to"`
		From *string `json:"from"`
	}
	if !controlapi.Body(w, r, &b, "to", "from") {
		return
	}
	if b.To == nil || b.From == nil {
		field := "to"
		if b.To != nil {
			field = "from"
		}
		fail(w, rule.Missing(field))
		return
	}
	res, err := c.Entry.Call(r.Context(), *b.To, *b.From)
	if err != nil {
		fail(w, err)
		return
	}
	controlapi.Data(w, map[string]any{"answered": res.Answered, "result": orNull(res.Result), "reason": orNull(res.Reason), "doorId": orNull(res.DoorID)})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c Config) crash(w http.ResponseWriter, r *http.Request) {
	if c.Crash == nil {
		controlapi.Fail(w, http.StatusConflict, rule.RuleViolated, "crash points are off; start with --crash-points", nil)
		return
	}
	var b struct {
		At string `json:"at"`
	}
	if !controlapi.Body(w, r, &b, "at") {
		return
	}
	if err := c.Crash(b.At); err != nil {
		controlapi.FailField(w, "at", err.Error())
		return
	}
	controlapi.Data(w, map[string]string{"at": b.At})
}
