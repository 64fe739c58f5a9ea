package access_test

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/access"
)

// A board that has lost its server decides for 36 hours, to the millisecond.
func ExampleOutageOver() {
	const hour = 60 * 60 * 1000
	fmt.Println(access.OutageOver(36*hour), access.OutageOver(36*hour+1))
	fmt.Println("a lost clock:", access.OutageOver(-1))
	// Output:
	// false true
	// a lost clock: true
}
