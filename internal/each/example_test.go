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

func ExampleMade() {
	lengths := map[string]int{"a": 9}
	fmt.Println(each.Made(lengths, "a", func() int { return 1 }), each.Made(lengths, "b", func() int { return 1 }), lengths)
	// Output: 9 1 map[a:9 b:1]
}

func ExamplePut() {
	var m map[string]int
	each.Put(&m, "a", 1)
	each.Put(&m, "b", 2)
	fmt.Println(m)
	// Output: map[a:1 b:2]
}
