package clock_test

import (
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// A jump runs what falls due on the way, in order, and ends exactly at its target.
func ExampleVirtual_Advance() {
	c := clock.NewVirtual(time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), clock.NewFlight())
	c.Freeze()
	start := c.Now()
	c.AfterFunc(36*time.Hour, func() { fmt.Println("the limit, at", c.Now().Sub(start)) })
	c.AfterFunc(time.Hour, func() { fmt.Println("an hour, at", c.Now().Sub(start)) })
	if err := c.Advance(start.Add(37 * time.Hour)); err != nil {
		fmt.Println(err)
	}
	fmt.Println("now", c.Now().Sub(start))
	// Output:
	// an hour, at 1h0m0s
	// the limit, at 36h0m0s
	// now 37h0m0s
}
