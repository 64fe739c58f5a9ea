package judge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/amount"
)

// Exhibit is a planted bug and what is known about it: which clauses it breaks, where it is played, and which clause
// failed.
type Exhibit struct {
	Name    string   `json:"name"`
	Promise string   `json:"promise"`
	Clauses []string `json:"clauses"`
	By      string   `json:"by"`     // check, load or test
	With    []string `json:"with"`   // scenario files, or package and test
	Failed  string   `json:"failed"` // "" = it survived
}

// museum.json is written by `make museum`, which plays every bug.
//
//go:embed museum.json
var museumJSON []byte

var exhibits = sync.OnceValue(func() (out []Exhibit) {
	if err := json.Unmarshal(museumJSON, &out); err != nil {
		panic("judge: museum.json: " + err.Error()) // embedded, and read by a test
	}
	return out
})

// Museum is every planted bug as of the last `make museum`.
func Museum() []Exhibit { return slices.Clone(exhibits()) }

// Planted says how many of a clause's planted bugs are known to be caught.
func Planted(clause string) (caught, planted int) {
	for _, e := range exhibits() {
		if slices.Contains(e.Clauses, clause) {
			planted++
			if e.Failed != "" {
				caught++
			}
		}
	}
	return caught, planted
}

// plantedBugs is the same in words, "" for a clause without planted bugs.
func plantedBugs(clause string) string {
	caught, planted := Planted(clause)
	if planted == 0 {
		return ""
	}
	return fmt.Sprintf("its checks catch %d of %s", caught, amount.Many(planted, "planted bug"))
}
