package apikey_test

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/apikey"
)

// The last characters of a key are a checksum, so a typing error needs no look-up.
func ExampleWellFormed() {
	key := apikey.Derive(apikey.TestPrefix, "secret", "plc_1", "key_1")
	fmt.Println(apikey.WellFormed(key), apikey.WellFormed(key+"x"))
	// Output:
	// true false
}
