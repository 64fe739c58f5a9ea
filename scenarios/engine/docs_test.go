package engine

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/scenarios/expression"
)

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocs: docs/scenarios.md has a section with an example for every verb and for nothing else, and every example is
// a valid scenario.
func TestDocs(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile("../../docs/scenarios.md"))(t)
	page := string(raw)
	blocks := block.FindAllStringSubmatch(page, -1)
	prelude, _, _ := strings.Cut(blocks[1][1], "steps:\n")
	for i, b := range blocks {
		source := b[1]
		if strings.HasPrefix(source, "- ") {
			source = prelude + "steps:\n" + "  " + strings.ReplaceAll(strings.TrimSpace(source), "\n", "\n  ") + "\n"
		}
		if _, err := Parse(fmt.Sprintf("example %d", i+1), []byte(source)); err != nil {
			t.Errorf("got %v, want a valid scenario\n%s", err, source)
		}
	}
	verbs := strictyaml.Keys(verbsType)
	sections := map[string]string{}
	for _, s := range strings.Split(page, "\n#### ")[1:] {
		name, body, _ := strings.Cut(s, "\n")
		body, _, _ = strings.Cut(body, "\n### ")
		sections[name] = body
		if !slices.Contains(verbs, name) {
			t.Errorf("%s isn't a verb", name)
		}
	}
	for _, name := range verbs {
		if !regexp.MustCompile(`(?m)^\s*-? *` + name + `:`).MatchString(strings.Join(matches(sections[name]), "\n")) {
			t.Errorf("no section with an example for %s", name)
		}
	}
	for _, verb := range []any{Journal{}, Link{}, Permit{}, Phone{}, Present{}} {
		of := reflect.TypeOf(verb)
		for _, key := range strictyaml.Keys(of) {
			if section := sections[strings.ToLower(of.Name())]; expression.WordsIn(section, key) == 0 {
				t.Errorf("the section on %s doesn't name its key %s", of.Name(), key)
			}
		}
	}
	for _, name := range strictyaml.Keys(reflect.TypeFor[Step]()) {
		if !slices.Contains(verbs, name) && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page doesn't explain a step's key %s", name)
		}
	}
}

func matches(section string) (out []string) {
	for _, b := range block.FindAllStringSubmatch(section, -1) {
		out = append(out, b[1])
	}
	return out
}
