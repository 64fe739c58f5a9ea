package judge

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// maximum sets a door's entryPermitMaxHours.
func (h *builder) maximum(door string, hours float64) {
	h.did("plc_a", "PATCH", "/lab/v1/doors/{id}", 200, history.CallText{Path: door, In: fields{"entryPermitMaxHours": hours}}, nil)
}

// asks registers a permit of some length, or is refused for a maximum.
func (h *builder) asks(hours int64, maxHours float64, doors ...string) {
	in := fields{"externalRef": "ref-m", "startsAt": rfc(t0), "endsAt": rfc(t0 + hours*hourMs)}
	if len(doors) > 0 {
		in["doorIds"] = doors
	}
	if maxHours == 0 {
		h.did("plc_a", "POST", createRoute, 200, history.CallText{In: in, Out: fields{"permitId": "pmt_m", "entryToken": "link m"}}, nil)
		return
	}
	h.did("plc_a", "POST", createRoute, 409, history.CallText{In: in, Out: fields{"maxHours": maxHours}}, nil)
	h.last(history.Call, func(e *history.Event) { e.Code = "permit_period_too_long" })
}

// TestShortestOfItsDoors: a permit is no longer than the shortest maximum of its doors that the run has set.
func TestShortestOfItsDoors(t *testing.T) {
	t.Parallel()
	d1, d2, other := doorOf("brd_1", 1), doorOf("brd_1", 2), doorOf("brd_2", 1)
	for name, tc := range map[string]struct {
		before func(*builder)
		hours  int64
		most   float64 // that it is refused for; 0 = it is registered
		doors  []string
		want   Status
	}{
		"longer than a named door's":     {nil, 25, 0, []string{d1, d2}, Fail},
		"as long as a named door's":      {nil, 24, 0, []string{d1, d2}, Pass},
		"refused for it":                 {nil, 25, 24, []string{d2}, Pass},
		"refused for the place's":        {nil, 800, 720, []string{d2}, Fail},
		"refused for a shorter one":      {nil, 25, 12, []string{d1, d2}, Pass},
		"another door":                   {nil, 25, 0, []string{d1}, Pass},
		"longer than an entry door's":    {nil, 25, 0, nil, Fail},
		"refused for more than that":     {nil, 800, 720, nil, Fail},
		"no longer an entry door":        {func(h *builder) { h.entries("plc_a", d1) }, 25, 0, nil, Pass},
		"doors that it already had":      {func(h *builder) { h.asks(1, 0, d1) }, 25, 0, nil, Pass},
		"doors that it may have had":     {func(h *builder) { h.asks(1, 0, d1); h.unheard() }, 25, 0, nil, Pass},
		"a maximum that was lifted":      {func(h *builder) { h.maximum(d2, 720) }, 25, 0, []string{d2}, Pass},
		"one that may have been":         {func(h *builder) { h.maximum(d2, 720); h.unheard() }, 25, 0, []string{d2}, Pass},
		"on a target that others change": {func(h *builder) { h.emit(history.Event{Kind: history.Begun}); h.maximum(d2, 24) }, 25, 0, []string{d2}, Pass},
		"on a target that they don't": {func(h *builder) {
			h.emit(history.Event{Kind: history.Begun, Op: history.Quiet})
			h.maximum(d2, 24)
		}, 25, 0, []string{d2}, Fail},
		"another board's, which isn't an entry door": {func(h *builder) { h.maximum(other, 1) }, 24, 0, nil, Pass},
	} {
		h := oneBoard()
		h.addBoard("plc_a", "brd_2")
		h.entries("plc_a", d1, d2)
		h.maximum(d2, 24)
		if tc.before != nil {
			tc.before(h)
		}
		h.asks(tc.hours, tc.most, tc.doors...)
		if got := perm5(NewView(h.events)); got.Status != tc.want || got.FirstBad != nil && !strings.Contains(got.FirstBad.Why, "24 h") {
			t.Errorf("%s: PERM-5 is %s, want %s", name, got, tc.want)
		}
	}
}

// unheard makes the last call one that got no answer.
func (h *builder) unheard() {
	h.last(history.Call, func(e *history.Event) { e.Kind, e.Status = history.Unanswered, 0 })
}
