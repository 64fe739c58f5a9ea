package evidence

import (
	"reflect"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// TestOtherValues: the status of an imported row is a word, not a number, and a list or an object could have been the
// one that it is compared with.
func TestOtherValues(t *testing.T) {
	t.Parallel()
	for v := range others(spot{"data", "status"}, "created", known{}, nil) {
		if _, text := v.(string); !text && v != nil {
			t.Errorf("instead of a word, there could have been %v", v)
		}
	}
	e := must.Get(expression.Compile("data.days != before"))(t)
	for name, before := range map[string]any{
		"list": []any{map[string]any{"open": true}}, "object": map[string]any{"open": true},
	} {
		k := known{}
		k.Values = beside(e, map[string]any{"before": before}, map[string]any{"data": 1})
		like := map[string]any{"list": any([]any{1.0}), "object": any(map[string]any{"n": 1.0})}[name]
		if !slices.ContainsFunc(slices.Collect(different(like, k, 1)), func(v any) bool { return reflect.DeepEqual(v, before) }) {
			t.Errorf("%s: %v can't be what it is compared with", name, like)
		}
	}
}

// TestOtherValuesAreMadeOneByOne: whoever stops at the first ones of a long list doesn't pay for all of them. It isn't parallel,
// because it counts the process's allocations.
func TestOtherValuesAreMadeOneByOne(t *testing.T) {
	list := make([]any, 200)
	for i := range list {
		list[i] = map[string]any{"seq": float64(i), "result": "opened", "at": "2026-03-02T10:00:00.000Z", "by": []any{map[string]any{"door": "a"}}}
	}
	n := testing.AllocsPerRun(3, func() {
		got := 0
		for range others(spot{"data", "items"}, list, known{}, nil) {
			if got++; got == 10 {
				return
			}
		}
	})
	if n > 1000 {
		t.Errorf("the first ten other lists took %.0f allocations, want at most 1,000", n)
	}
}

// TestHeadersOfEveryAnswer: a header that every answer has could only have had another value.
func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	env := map[string]any{"headers": map[string]any{"X-Request-Id": "r-1", "X-Place-Kind": "live", "Content-Type": "application/json", "Allow": "GET"}}
	for name, absent := range map[string]bool{"X-Request-Id": false, "X-Place-Kind": false, "Content-Type": false, "Allow": true} {
		p := spot{"headers", name}
		got := slices.Collect(others(p, read(env, p), known{words: WordsOf("opened", "denied")}, env))
		if len(got) == 0 || slices.Contains(got, any(nil)) != absent || slices.Contains(got, any("")) != absent {
			t.Errorf("%s could have been %q, want something, and nothing at all: %t", name, got, absent)
		}
	}
}

// TestTimesInAnswers: a bound that is centuries away is idle, because every time an answer might contain satisfies
// it.
func TestTimesInAnswers(t *testing.T) {
	t.Parallel()
	const now = "2026-03-02T10:00:00.000Z"
	got := texts(now, known{Mentions: expression.Mentions{Values: []any{"1971-01-01T00:00:00Z", "2026-04-01T00:00:00Z", "a word"}}})
	want := []any{"2023-06-06T10:00:00.000Z", "2028-11-26T10:00:00.000Z", "2023-06-06T17:31:17.123Z", "2028-11-26T02:28:42.877Z",
		"2026-03-02T19:00:00+09:00", "2026-04-01T00:00:00Z"}
	if !slices.Equal(got, want) {
		t.Errorf("other times than %s: got %v, want %v", now, got, want)
	}
}

// TestIdleInData: an expectation of what an answer says in its data is idle unless other data break it.
func TestIdleInData(t *testing.T) {
	t.Parallel()
	span := func(start, end string) any {
		return map[string]any{"start": start, "end": end, "by": map[string]any{"state": "online"}}
	}
	own := map[string]any{"data": map[string]any{"none": []any{}, "endsAt": "2026-03-31T03:00:00.000Z", "days": []any{
		map[string]any{"note": nil, "date": "2026-03-01", "startsAt": "2026-03-01T00:00:00.000Z", "spans": []any{span("09:00", "18:00"), span("20:00", "21:00")}},
		map[string]any{"note": nil, "date": "2026-03-02", "startsAt": "2026-03-02T00:00:00.000Z", "spans": []any{span("10:00", "18:00")}},
	}}, "headers": map[string]any{"Retry-After": "17", "Content-Length": "120"}}
	for src, idle := range map[string]bool{
		// the time of day, and the form in which a time is written
		`data.endsAt endsWith "T03:00:00.000Z"`:               false,
		`data.endsAt[11:16] == "03:00"`:                       false,
		`date(data.endsAt).Hour() == 3`:                       false,
		`data.endsAt endsWith "Z"`:                            false,
		`data.endsAt matches "\\.[0-9]{3}Z$"`:                 false,
		`all(data.days, .startsAt endsWith "T00:00:00.000Z")`: false,
		`data.endsAt contains "T"`:                            true,
		`date(data.endsAt).Hour() < 24`:                       true,
		`data.endsAt startsWith "20"`:                         true,
		`data.endsAt > "2023-01-01T00:00:00Z"`:                true,
		`data.endsAt < "2028-12-31T00:00:00Z"`:                true,
		// numbers and dates in texts
		`int(headers["Retry-After"]) >= 1 and int(headers["Retry-After"]) <= 60`: false,
		`int(headers["Retry-After"]) == 17`:                                      false,
		`date(data.days[1].date) - date(data.days[0].date) == duration("24h")`:   false,
		`all(0..1, date(data.days[#].date).Year() == 2026)`:                      false,
		`int(headers["Retry-After"]) >= 0`:                                       true,
		`int(headers["Content-Length"]) > 0`:                                     true,
		`date(data.days[0].date).Year() > 2000`:                                  true,
		`date(data.days[1].date) >= date(data.days[1].date)`:                     true,
		// an object in place of null
		`none(data.days, .note != nil and .note.type == "holiday")`:  false,
		`none(data.days, .note != nil and .note.type != .note.type)`: true,
		`none(data.days, .note == 7 and .note == 8)`:                 true,
		`all(data.days, .note == nil or len(.note) >= 0)`:            true,
		// longer lists
		`len(data.none) < 3`: false,
		// elements of an empty list: fields in fields, texts beside numbers
		`sort(map(data.none, .window.ref + " " + .mode)) == sort([])`:          false,
		`map(data.none, .by.at.zone + .mode) == []`:                            false,
		`map(data.none, .doorId + string(int(.replays))) == []`:                false,
		`none(data.none, .note != nil and .note.type == "feast" and .n > 7.5)`: false,
		`none(data.none, .kind == "shop" and .size == "small" and .n == 3)`:    false,
		`none(data.none, .n - .m > 3 and .kind == "shop")`:                     false,
		`none(data.none, .kind == "shop" and .kind == "kiosk")`:                true,
		`map(data.none, .mode + 1 + .mode) != nil`:                             true,
		`all(data.none, .window.ref == .window.ref)`:                           true,
		`len(data.days) <= 5`:   false,
		`len(data.none) < 3000`: true,
		// lists in lists
		`all(data.days, all(.spans, .start < .end))`:                                 false,
		`all(data.days, len(.spans) == 0 or all(.spans, .start < .end))`:             false,
		`none(data.days, any(.spans, .start >= "22:00"))`:                            false,
		`all([data], all(.days, all(.spans, .by.state == "online")))`:                false,
		`all(data.days, all(.spans, .start <= .start))`:                              true,
		`all(data.days, all(.spans, len(.start) >= 0))`:                              true,
		`all(data.days, all(.spans, .by.state in ["online", "offline", "unknown"]))`: true,
		`all(data.days, len(.spans) == 0 or all(.spans, .start == .start))`:          true,
	} {
		var watch Watch
		met(t, &watch, src, &report.Step{}, View{Env: own, Own: own, Words: WordsOf(), Past: &Past{}})
		if got := len(watch.Idle()) == 1; got != idle {
			t.Errorf("%s: idle is %t, want %t", src, got, idle)
		}
	}
}

// TestListsOfRecords: how many there are can't be far more than there were, only an empty list has no ends, and numbers that
// begin at 1 and the words of an import's rows are what they are.
func TestListsOfRecords(t *testing.T) {
	t.Parallel()
	line := map[string]any{"seq": 4.0, "result": "opened", "bufferedRecords": 1.0}
	own := map[string]any{"records": []any{line}, "count": 1, "first": line, "last": line,
		"data": map[string]any{"results": []any{map[string]any{"index": 0.0, "status": "created"}}}}
	for src, idle := range map[string]bool{
		`count <= 10`:                         true,
		`count <= 3`:                          false,
		`count == 1`:                          false,
		`first.bufferedRecords <= 1000`:       true,
		`first.bufferedRecords <= 2`:          false,
		`(count > 0) == (first != nil)`:       true,
		`first != nil`:                        false,
		`last == nil or count > 0`:            true,
		`first.result == "opened"`:            false,
		`all(records, .seq > 0)`:              true,
		`all(records, .seq > 3)`:              false,
		`first.seq >= 1`:                      true,
		`data.results[0].status == "created"`: false,
		`all(data.results, .status in ["created", "updated", "unchanged", "failed"])`: true,
		`all(data.results, .status in ["created", "unchanged", "failed"])`:            false,
	} {
		var watch Watch
		met(t, &watch, src, &report.Step{}, View{Env: own, Own: own, Words: WordsOf("opened", "denied"), Past: &Past{}})
		if got := len(watch.Idle()) == 1; got != idle {
			t.Errorf("%s: idle is %t, want %t", src, got, idle)
		}
	}
}
