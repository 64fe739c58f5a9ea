package console

import (
	"net/http"
	"regexp"
	"strings"

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
	if *b.From != "" && !isCaller(*b.From) {
		refuse(w, fail.New(fail.InvalidPhone, `from must be 3 to 15 digits, or + and an international number; use "" for a caller who withholds the number`, "field", "from"))
		return
	}
	res, err := c.Entry.Call(r.Context(), *b.To, *b.From)
	answer(w, map[string]any{"answered": res.Answered, "result": control.OrNull(string(res.Result)), "reason": control.OrNull(string(res.Reason)), "doorId": control.OrNull(res.DoorID)}, err)
}

func (c Config) showSIP(w http.ResponseWriter, _ *http.Request) {
	if c.SIP == nil {
		control.Fail(w, http.StatusNotFound, fail.NotFound, "phone entry over SIP is off; start with --sip", nil)
		return
	}
	control.Data(w, map[string]any{"address": c.SIP.Addr(), "peers": c.SIP.Peers()})
}

// word is what phones show for a caller who withholds the number.
var word = regexp.MustCompile(`(?i)^(anonymous|blocked|private|restricted|unavailable|unknown|withheld)$`)

// isCaller tells what a phone can show as its caller: a word, or a number with what is written between the digits. A
// switchboard has three.
func isCaller(number string) bool {
	if word.MatchString(number) {
		return true
	}
	digits := strings.NewReplacer("-", "", ".", "", " ", "", "(", "", ")", "").Replace(strings.TrimPrefix(strings.TrimSpace(number), "+"))
	return len(digits) >= 3 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
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
