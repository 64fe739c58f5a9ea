package main

import "github.com/spf13/cobra"

// need is a value without which a command can't go on: its error ends the command (see ends).
func need[T any](v T, err error) T {
	if err != nil {
		panic(stop{err})
	}
	return v
}

// need2 is need for two values.
func need2[T, U any](v T, w U, err error) (T, U) {
	sure(err)
	return v, w
}

// sure ends the command with an error, if there is one.
func sure(err error) { need(0, err) }

// stop is how need and sure end a command. It gets no further than the command's own goroutine.
type stop struct{ error }

// ends makes what need and sure find the error of their command, in c and in all commands below it.
func ends(c *cobra.Command) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) (err error) {
			defer func() {
				switch p := recover().(type) {
				case nil:
				case stop:
					err = p.error
				default:
					panic(p)
				}
			}()
			return run(c, args)
		}
	}
	for _, sub := range c.Commands() {
		ends(sub)
	}
}
