package judge

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// asAsked: whatever else a list of records or events may lack, each of its rows meets every condition of the request.
func (v *View) asAsked(t *tally, c *call, q url.Values) {
	if !c.ok() || c.SentNs == 0 {
		return
	}
	since, until := v.asked(c, q)
	for _, item := range c.Told {
		row, _ := item.(map[string]any)
		at, dated := instant(row["recordedAt"])
		switch {
		case dated && at < since: // [ENT-4]
			t.bad(c.Event, "a list that begins at %s shows what was recorded at %s", moment(since), moment(at))
		case dated && until != 0 && at >= until: // [ENT-4]
			t.bad(c.Event, "a list that ends at %s shows what was recorded at %s", moment(until), moment(at))
		}
		if strings.HasSuffix(c.Route, "/entry-logs") {
			continue
		}
		for _, field := range []string{"result", "kind", "doorId", "permitId"} {
			if wanted := listedIn(q[field]); len(wanted) > 0 && !slices.Contains(wanted, text(row, field)) { // [ENT-4]
				t.bad(c.Event, "a list with %s=%s shows one with %q", field, strings.Join(wanted, ","), text(row, field))
			}
		}
	}
}

// asked is the time that a list may cover, in domain ms: from since, 0 = any, to before until, 0 = any.
func (v *View) asked(c *call, q url.Values) (since, until int64) {
	if strings.HasSuffix(c.Route, "/entry-logs") {
		if v.noClock() {
			return 0, 0
		}
		return c.SentAt - v.skewMs(c) - int64(numberOr(q.Get("sinceDays"), 7))*dayMs, 0
	}
	for name, to := range map[string]*int64{"from": &since, "to": &until} {
		if at, err := time.Parse(time.RFC3339, q.Get(name)); err == nil {
			*to = at.UnixMilli()
		}
	}
	return since, until
}

const dayMs = 24 * 3600 * 1000

// listedIn are the values of a parameter that may be given more than once, and as lists.
func listedIn(given []string) (out []string) {
	for _, list := range given {
		for part := range strings.SplitSeq(list, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}
