package judge

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

func rfc(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// token issues a new token of a new key.
func (h *builder) token() string {
	h.exchange(h.at, "key-9", h.id("tok"))
	return fmt.Sprintf("tok_%d", h.n)
}

// create registers a permit of plc_a.
func (h *builder) create(ref, id string, from, to int64) {
	text, _ := json.Marshal(history.CallText{SentAt: h.at, Token: h.token(),
		In: map[string]any{"externalRef": ref, "startsAt": rfc(from), "endsAt": rfc(to)}, Out: map[string]any{"permitId": id}})
	h.emit(history.Event{Kind: history.Call, At: h.at, PlaceID: "plc_a", Method: "POST", Route: createRoute, Status: 200, Text: string(text)})
}

// read lists a permit and shows its state and period.
func (h *builder) read(state string, from, to int64) {
	h.call(h.at, createRoute, 200, history.CallText{Token: h.token(), Items: []any{
		map[string]any{"permitId": "pmt_1", "state": state, "startsAt": rfc(from), "endsAt": rfc(to)}}})
}

func permitPlants() []planted {
	return []planted{
		{"a second permit under a reference", func(t *testing.T, h *builder) { h.create("ref-1", "pmt_9", t0, t0+1000) },
			[]string{"PERM-2"}, history.Call, "before that it was pmt_1"},
		{"longer than 720 h", func(t *testing.T, h *builder) { h.create("ref-2", "pmt_2", t0, t0+maxPermitMs+1) },
			[]string{"PERM-5"}, history.Call, "a permit of 720.000 h"},
		{"pending for ever", func(t *testing.T, h *builder) { h.read("pending", h.at-10_000, h.at+10_000) },
			[]string{"PERM-7"}, history.Call, "by its period it is active"},
		{"active after its end", func(t *testing.T, h *builder) { h.read("active", h.at-20_000, h.at-10_000) },
			[]string{"PERM-7"}, history.Call, "by its period it is expired"},
		{"a phone in an answer", func(t *testing.T, h *builder) {
			h.call(h.at, createRoute, 200, history.CallText{Token: h.token(), Leaks: 1})
		}, []string{"ENT-4"}, history.Call, "a phone number in full"},
	}
}

// TestRefusedPeriods: a refusal must give a reason that is true of the period.
func TestRefusedPeriods(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	for name, c := range map[string]struct {
		period int64
		code   string
		says   fields
		want   Status
	}{
		"longer than its doors' maximum":  {24*hour + 1, "permit_period_too_long", fields{"maxHours": 24, "requestedHours": 24.001, "doorId": "dor_1"}, Pass},
		"refused without details":         {24*hour + 1, "permit_period_too_long", nil, Pass},
		"exactly the maximum":             {24 * hour, "permit_period_too_long", fields{"maxHours": 24, "requestedHours": 24.0}, Fail},
		"an hour, whatever the maximum":   {hour, "permit_period_too_long", nil, Fail},
		"a maximum of more than 720 h":    {800 * hour, "permit_period_too_long", fields{"maxHours": 721}, Fail},
		"hours that weren't asked for":    {48 * hour, "permit_period_too_long", fields{"maxHours": 24, "requestedHours": 1000.0}, Fail},
		"a door that wasn't named":        {48 * hour, "permit_period_too_long", fields{"maxHours": 24, "doorId": "dor_2"}, Fail},
		"no period at all":                {0, "invalid_period", nil, Pass},
		"a period that ends as it should": {1, "invalid_period", nil, Fail},
	} {
		h := clean()
		text, _ := json.Marshal(history.CallText{SentAt: h.at, Token: h.token(), Out: c.says,
			In: fields{"externalRef": "ref-x", "startsAt": rfc(t0), "endsAt": rfc(t0 + c.period), "doorIds": []string{"dor_1"}}})
		h.emit(history.Event{Kind: history.Call, At: h.at, PlaceID: "plc_a", Method: "POST", Route: createRoute, Status: 409, Code: c.code, Text: string(text)})
		if got := perm5(NewView(h.events)); got.Status != c.want {
			t.Errorf("%s: PERM-5 is %s (%s), want %s", name, got.Status, got.Number, c.want)
		}
	}
}

func TestPlantedPermitBugs(t *testing.T) { runPlants(t, permitPlants()) }

// TestReferenceUsedAgain: a reference is free again 400 days after its permit's end.
func TestReferenceUsedAgain(t *testing.T) {
	t.Parallel()
	const end = t0 + 3_600_000
	for name, c := range map[string]struct {
		at   int64
		want Status
	}{
		"while it lasts":         {t0 + 1000, Fail},
		"400 days after its end": {end + permitKeptMs, Fail},
		"a millisecond later":    {end + permitKeptMs + 1, Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &builder{at: t0}
			h.create("ref-1", "pmt_1", t0, end)
			h.at = c.at
			h.create("ref-1", "pmt_2", c.at, c.at+1000)
			if got := perm2(NewView(h.events)); got.Status != c.want {
				t.Errorf("PERM-2 is %s (%s), want %s", got.Status, got.Number, c.want)
			}
		})
	}
}

// TestReadJustAfterItsEnd: one permit that is read just after its end shows that states follow time; hours later, or alive, it
// takes another in a different state.
func TestReadJustAfterItsEnd(t *testing.T) {
	t.Parallel()
	const end = t0 + 3_600_000
	for name, c := range map[string]struct {
		state string
		at    int64
		want  bool
	}{
		"at its end":          {"expired", end, true},
		"two minutes later":   {"expired", end + atOnceMs, true},
		"hours later":         {"expired", end + 20*atOnceMs, false},
		"just before its end": {"active", end - 5000, false},
	} {
		out := fields{"permitId": "pmt_1", "startsAt": rfc(t0 - 1000), "endsAt": rfc(end), "state": c.state}
		text, _ := json.Marshal(history.CallText{SentAt: c.at, Out: out})
		h := &builder{at: c.at}
		h.emit(history.Event{Kind: history.Call, At: c.at, PlaceID: "plc_a", Method: "GET", Route: createRoute + "/{id}", Status: 200, Text: string(text)})
		if got := perm7(NewView(append([]history.Event{{Kind: history.Started, At: t0}}, h.events...))); got.Status != Pass || (len(got.Untried) == 0) != c.want {
			t.Errorf("%s: PERM-7 is %s, lacks %q; want PASS, tried %t", name, got.Status, got.Untried, c.want)
		}
	}
}
