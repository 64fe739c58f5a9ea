package strictyaml_test

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// All mistakes in a file are reported at once, each with its position and what was probably meant.
func ExampleDecode() {
	var door struct {
		Name    string `json:"name"`
		Channel int    `json:"channel"`
	}
	err := strictyaml.Decode("door.yaml", []byte("nmae: Front\nchannel: one\n"), &door, nil, nil)
	if problems, ok := err.(strictyaml.Problems); ok {
		for _, p := range problems {
			fmt.Println(p.Short())
		}
	}
	// Output:
	// door.yaml:1:1: unknown key "nmae", did you mean "name"?
	// door.yaml:2:10: expected a whole number, found "one"
}
