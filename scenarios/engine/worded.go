package engine

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// do runs a verb, unless a template made a word that its field doesn't take: a misspelt outcome would look like a wrong one.
func (x *frame) do(v verb) (fields, error) {
	var wrong error
	strictyaml.EachEnum(v, func(key string, value any, words []string) {
		text, ok := value.(Text)
		if _, literal := text.Literal(); !ok || literal || wrong != nil {
			return
		}
		if word, err := text.str(x.scope); err == nil && !slices.Contains(words, word) {
			wrong = fmt.Errorf("%s: %q is not a valid %s%s", text.raw, word, key, near.Hints(word, words))
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	return v.run(x)
}
