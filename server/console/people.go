package console

import (
	"net/http"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/server/fail"
)

func (c Config) call(w http.ResponseWriter, r *http.Request) {
	var b struct {
		To   *string `json:"to"`
		From *string `json:"from"`
	}
	if !control.Body(w, r, &b) {
		return
	}
	if b.To == nil || b.From == nil {
		field := "to"
		if b.To != nil {
			field = "from"
		}
		refuse(w, fail.Missing(field))
		return
	}
	res, err := c.Entry.Call(r.Context(), *b.To, *b.From)
	if err != nil {
		refuse(w, err)
		return
	}
	control.Data(w, map[string]any{"answered": res.Answered, "result": control.OrNull(string(res.Result)), "reason": control.OrNull(string(res.Reason)), "doorId": control.OrNull(res.DoorID)})
}

func (c Config) crash(w http.ResponseWriter, r *http.Request) {
	if c.Crash == nil {
		control.Fail(w, http.StatusConflict, fail.RuleViolated, "crash points are off; start with --crash-points", nil)
		return
	}
	var b struct {
		At string `json:"at"`
	}
	if !control.Body(w, r, &b) {
		return
	}
	if err := c.Crash(b.At); err != nil {
		control.FailField(w, "at", err.Error())
		return
	}
	control.Data(w, map[string]string{"at": b.At})
}
