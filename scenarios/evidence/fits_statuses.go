package evidence

import (
	"fmt"
	"slices"
)

// Is a list of statuses an expectation, or would every answer match?

// manyRefusals is more than a race explains: that a request may succeed or be refused, for any reason, isn't an
// expectation.
const manyRefusals = 4

// FitsMost says why a list of statuses is no expectation, "" if it is one.
func FitsMost(codes []int) string {
	kinds := map[int]int{}
	for _, code := range codes {
		kinds[code/100]++
	}
	names := func(code int) bool { return slices.Contains(codes, code) }
	switch {
	case kinds[2] > 0 && names(502) && names(504):
		return "status lists success, 502 and 504: every answer from a board would match"
	case kinds[2] > 0 && kinds[4] > 0 && kinds[5] > 0:
		return "status lists success, refusal and failure: every answer would match"
	case kinds[2] > 0 && kinds[4] >= manyRefusals:
		return fmt.Sprintf("status lists success and %d refusals: nearly every answer would match", kinds[4])
	}
	return ""
}

// FitsBoth reports whether a success (2xx) and something else are in the list.
func FitsBoth(codes []int) bool {
	ok := func(code int) bool { return code/100 == 2 }
	return slices.ContainsFunc(codes, ok) && slices.ContainsFunc(codes, func(code int) bool { return !ok(code) })
}

// fitsAllStatuses reports whether the expectation speaks of the status alone, and a
// success, a refusal and a failure would all do: what "status: [200, 409, 504]" is
// refused for. That there is no 500 is worth saying.
func fitsAllStatuses(spots []spot, env map[string]any, fits func(env map[string]any) bool) bool {
	kinds, refused := map[int]bool{}, []int(nil)
	for _, p := range spots {
		if len(p) != 1 || p[0] != "status" {
			return false
		}
	}
	for _, code := range statuses {
		if fits(written(env, spot{"status"}, as(env["status"], float64(code)))) {
			kinds[code/100] = kinds[code/100] || code == 200 || code/100 != 2 // no answer is another success
		} else {
			refused = append(refused, code)
		}
	}
	return kinds[2] && kinds[4] && kinds[5] && !slices.Equal(refused, []int{500})
}
