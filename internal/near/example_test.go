package near_test

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/near"
)

func ExampleHint() {
	known := []string{"offline", "refuse", "silent"}
	fmt.Println("unknown fault \"ofline\"" + near.Hint("ofline", known))
	fmt.Println("unknown fault \"xyz\"" + near.Hint("xyz", known))
	// Output:
	// unknown fault "ofline", did you mean "offline"?
	// unknown fault "xyz"
}
