package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
)

// Combine joins the verdicts of separate worlds into one per clause: the worst status with its first breach, and
// numbers over all worlds. Evidence counts as missing only if no world has it.
func Combine(worlds ...[]Verdict) []Verdict {
	var out []Verdict
	at := map[string]int{}
	numbers := map[string][]string{} // of those that passed, by clause
	for _, w := range worlds {
		for _, v := range w {
			if v.Status == Pass {
				numbers[v.Clause] = append(numbers[v.Clause], v.Number)
			}
			i, known := at[v.Clause]
			if !known {
				at[v.Clause] = len(out)
				out = append(out, v)
				continue
			}
			out[i].join(v)
		}
	}
	for i := range out {
		switch v := &out[i]; v.Status {
		case Pass:
			v.Number = addUp(numbers[v.Clause])
		case Fail:
			v.Number = fmt.Sprintf("%s of %s broke it", amount.Number(v.Bad), amount.Number(v.Checked+v.Real))
			if v.FirstBad != nil { // a directory that was read may lack it
				v.Number += ": " + v.FirstBad.Why
			}
		}
	}
	return out
}

func (v *Verdict) join(o Verdict) {
	v.Checked += o.Checked
	v.Bad += o.Bad
	v.Real += o.Real
	v.Missing, v.Untried = both(v.Missing, o.Missing), both(v.Untried, o.Untried)
	v.Unseen = both(v.Unseen, o.Unseen)
	v.Occasions = nil // each file has been judged by those of its own world
	if o.Status.Outweighs(v.Status) {
		v.Status, v.Number, v.FirstBad = o.Status, o.Number, o.FirstBad
	}
}

// both is what both lists lack; nil if each history has what the other lacks.
func both(a, b []string) (out []string) {
	return each.If(a, func(s string) bool { return slices.Contains(b, s) })
}

// figure is a number in the text of a verdict: 1,234 or a duration such as
// 0.54 s, 36.000 h or 35h59m59s.
var figure = regexp.MustCompile(`\d+(?:,\d{3})*(?:\.\d+)?(?:(?:h|ms|m|s)[\d.hms]*| (?:h|ms|s)\b)?`)

// addUp joins numbers with the same wording: counts are summed; durations and whatever follows "at most" or "limit" are
// maxima. Numbers with other wording are listed beside them.
func addUp(numbers []string) string {
	type wording struct {
		text string
		sum  []string
	}
	var all []*wording
	for _, n := range numbers {
		text, found := figure.ReplaceAllString(n, "#"), figure.FindAllString(n, -1)
		i := slices.IndexFunc(all, func(w *wording) bool { return w.text == text })
		if i < 0 {
			all = append(all, &wording{text, found})
			continue
		}
		before := strings.Split(text, "#")
		for k := range found {
			all[i].sum[k] = add(all[i].sum[k], found[k], strings.HasSuffix(before[k], "at most ") || strings.HasSuffix(before[k], "limit "))
		}
	}
	var out []string
	for _, w := range all {
		k := -1
		out = append(out, figure.ReplaceAllStringFunc(placeholders(w.text), func(string) string { k++; return w.sum[k] }))
	}
	return strings.Join(out, "; ")
}

// placeholders turns each # of a wording into a figure, to be replaced in order.
func placeholders(text string) string { return strings.ReplaceAll(text, "#", "0") }

// add sums two counts, or takes the larger of two maxima; durations are always maxima.
func add(a, b string, most bool) string {
	n, err1 := strconv.Atoi(strings.ReplaceAll(a, ",", ""))
	m, err2 := strconv.Atoi(strings.ReplaceAll(b, ",", ""))
	switch {
	case err1 == nil && err2 == nil && most:
		return amount.Number(max(n, m))
	case err1 == nil && err2 == nil:
		return amount.Number(n + m)
	}
	if length(b) > length(a) {
		return b
	}
	return a
}

// length parses a duration as verdicts write it; a bare number counts as seconds.
func length(text string) time.Duration {
	text = strings.NewReplacer(" ", "", ",", "").Replace(text)
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	d, _ := time.ParseDuration(text + "s") // a figure is a number in any case
	return d
}
