package bug

import (
	"strings"

	"github.com/doorlab/doorlab/internal/each"
)

// What catches a bug.
const (
	Check = "check" // the scenarios that are named
	Load  = "load"  // a short load whose thresholds hold
	Test  = "test"  // go test of a package, one test
)

// Bug is a planted bug: the promise that it breaks and where it is caught.
type Bug struct {
	Name    string
	Clauses []string // of which one must fail
	Promise string   // what the contract says, in one sentence
	By      string   // Check, Load or Test
	// With names, for Check, scenario files without .yaml; for Test a package and
	// a test that fails with the bug, or a subtest that plants it and finds it.
	With []string
}

// Museum are all planted bugs, family by family.
func Museum() []Bug {
	var out []Bug
	for _, family := range [][]Bug{keys, permits, imports, entries, calls, records, events, devices, commands, deaths, syncs, outages, lists} {
		out = append(out, family...)
	}
	return out
}

// underLoad ends the name of a bug that a load has to catch, too.
const underLoad = "-in-load"

// Names of all bugs.
func Names() []string { return each.Of(Museum(), func(b Bug) string { return b.Name }) }

// find is the bug of a name.
func find(name string) (Bug, bool) {
	for _, b := range Museum() {
		if b.Name == name {
			return b, true
		}
	}
	return Bug{}, false
}

func caught(by, name, clauses, promise, with string) Bug {
	return Bug{Name: name, Clauses: strings.Fields(clauses), Promise: promise, By: by, With: strings.Fields(with)}
}

// check is a bug that scenarios catch, load one that a load catches, test one of a Go test.
func check(name, clauses, promise, files string) Bug {
	return caught(Check, name, clauses, promise, files)
}

func load(name, clauses, promise string) Bug { return caught(Load, name, clauses, promise, "") }

func test(name, clauses, promise, where string) Bug {
	return caught(Test, name, clauses, promise, where)
}
