package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/lang"
	"github.com/doorlab/doorlab/internal/world"
)

// TestWrongForms: what a person fills in badly is said in the language of the page, with what to do, before anything is
// called.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	w := world.Default(1, 2)
	c := &Console{cfg: Config{World: w, Clock: clock.NewVirtual(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), nil)}, names: namesOf(w)}
	form := func(values ...string) *http.Request {
		q := url.Values{}
		for i := 0; i < len(values); i += 2 {
			q.Set(values[i], values[i+1])
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(q.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		_ = r.ParseForm()
		return r
	}
	for name, x := range map[string]struct {
		do      func(*http.Request) (Said, error)
		with    *http.Request
		english string
	}{
		"no time":     {c.jumpTo, form("to", "tomorrow"), `"tomorrow" is neither a time, such as`},
		"no mark":     {c.jumpTo, form("to", "cut+36h"), `"cut+36h" is neither a time`},
		"the past":    {c.jumpTo, form("to", "2026-12-01 08:59"), "2026-12-01 08:59:00 is in the past"},
		"mark":        {c.mark, form("label", "a b"), "A name has up to 30 letters"},
		"no door":     {func(r *http.Request) (Said, error) { return c.move(r, "open") }, form("door", "dor_x"), "This door isn't one of the board's"},
		"share":       {c.addFault, form("on", "share", "share", "200", "fault", "slow"), "at most 100 percent"},
		"no share":    {c.addFault, form("on", "share", "share", "0", "fault", "slow"), "more than 0"},
		"parameter":   {c.addFault, form("on", "share", "share", "5", "fault", "slow", "param.p50Ms", "abc"), "p50Ms must be a number"},
		"nth":         {c.addFault, form("on", "share", "share", "5", "fault", "slow", "nth", "0"), "n must be a whole number, 1 or more"},
		"two targets": {c.addFault, form("on", "share", "share", "5", "fault", "slow", "boards", "brd_x"), "The field boards is filled in, but share is chosen"},
		"delay":       {c.setDisk, form("state", "slow", "delayMs", "1.5"), "whole number of milliseconds"},
		"nobody":      {c.try, form("person", " "), "Give a phone number, an entry link"},
		"a link":      {c.try, form("person", strings.Repeat("x", 43), "how", "call"), "A link can't call"},
		"a phone":     {c.try, form("person", "01012345678", "how", "link"), "A phone number has no button"},
	} {
		_, err := x.do(x.with)
		ours, ok := err.(wrong)
		if !ok || !strings.Contains(err.Error(), x.english) {
			t.Errorf("%s: got %v, want our own text with %q", name, err, x.english)
			continue
		}
		if ko := Said(ours).in(lang.Korean); ko == err.Error() || strings.Contains(ko, "%!") || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: in Korean it is %q, want a Korean text", name, ko)
		}
	}
}
