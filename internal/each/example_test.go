package each_test

import (
	"fmt"
	"strconv"

	"github.com/doorlab/doorlab/internal/each"
)

func ExampleOf() {
	fmt.Printf("%q %q\n", each.Of([]int{1, 2}, strconv.Itoa), each.Of(nil, strconv.Itoa))
	// Output: ["1" "2"] []
}

func ExampleIf() {
	odd := func(n int) bool { return n%2 == 1 }
	fmt.Println(each.If([]int{1, 2, 3}, odd), each.If([]int{2}, odd) == nil)
	// Output: [1 3] true
}

func ExampleBy() {
	fmt.Println(each.By([]int{1, 2, 3}, func(n int) bool { return n%2 == 1 }))
	// Output: map[false:[2] true:[1 3]]
}

func ExampleSet() {
	fmt.Println(each.Set([]int{1, 2, 2}, strconv.Itoa))
	// Output: map[1:true 2:true]
}
