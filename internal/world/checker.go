package world

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/plain"
)

// problems are texts of the form "field: what is wrong", with the field as a path: places[0].kind.
type problems []string

func (p problems) Error() string { return strings.Join(p, "\n") }

type checker struct {
	given    func(field string) bool // the file has the field
	seen     map[string]string
	boards   int // so far, of fleets
	problems []string
}

func (c *checker) add(field, reason string) { c.problems = append(c.problems, field+": "+reason) }

func (c *checker) once(field, what string) {
	if first, ok := c.seen[what]; ok {
		c.add(field, what+" is taken by "+first)
		return
	}
	c.seen[what] = field
}

func (c *checker) id(field, prefix, id string) {
	if !strings.HasPrefix(id, prefix) || !idForm.MatchString(id) {
		c.add(field, fmt.Sprintf("%q must begin with %s and contain only letters, digits, _ and -", id, prefix))
	}
	c.once(field, "id "+id)
}

// maxName is how many characters a name may have, as in the API.
const maxName = 100

func (c *checker) name(field, name string) {
	if plain.Deceptive(name) {
		c.add(field, plain.Reason)
	}
	if utf8.RuneCountInString(name) > maxName {
		c.add(field, fmt.Sprintf("must have at most %d characters", maxName))
	}
}

func (c *checker) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	return problems(c.problems)
}
