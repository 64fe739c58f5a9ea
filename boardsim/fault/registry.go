package fault

import (
	"sort"
	"time"
)

// kinds is every fault there is, one a file.
var kinds = []*kind{
	&duplicate, &flap, &garbage, &halfopen, &late, &lossy, &noClock, &noop,
	&offline, &onewayDown, &onewayUp, &reboot, &rebootWiped, &refuse, &reorder,
	&silent, &silentAfter, &skew, &slow, &stale, &wrongID,
}

// kind is a fault: its name, its parameters and exactly one way to act (noop
// counts commands and does nothing).
type kind struct {
	name   string
	params []param
	// check judges the parameters together and fills in what follows from others.
	check func(v values, given map[string]any) *BadSpec

	// line faults add to what a line is; down is where flap stands.
	line func(v values, down bool, l *Line)
	// command faults add to a decision and report whether they had a say. It is
	// asked in order of rank, lowest first; d holds what others have decided.
	command func(v values, draw func() float64, d *Decision) bool
	rank    int
	// instant faults act at once on each board.
	instant func(b Board, boardID string)
	// clock faults turn a board's wall clock: by seconds, and by ppm from then on.
	clock func(v values) (seconds, ppm float64)
	// cycle is how long the line is up and down in turn.
	cycle func(v values) (up, down time.Duration)
}

// Ranks of command faults: what silences comes first, then what decides about
// the act, then what becomes of the report.
const (
	rankSilent = iota
	rankRefuse
	rankAct
	rankSilentAfter
	rankGarbage
	rankWrongID
	rankStale
	rankReport
)

func lookup(name string) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// Names lists the faults, sorted.
func Names() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	sort.Strings(out)
	return out
}

// Nearest is the fault name nearest to name, "" when none is near.
func Nearest(name string) string { return nearest(name, Names()) }

func nearest(name string, valid []string) string {
	best, at := "", len(name)/2+2 // further off it is no typing error
	for _, v := range valid {
		if d := distance(name, v); d < at {
			best, at = v, d
		}
	}
	return best
}

// distance is Levenshtein's, by bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
