package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// stopWithin is how long an interrupted command waits for its server to end: with what comes before it, up and serve promise
// 5 s.
const stopWithin = 1500 * time.Millisecond

// giveUpAfter is how long a command that writes results may take to end after an interruption, whatever hangs. A run that is
// judged takes seconds.
const giveUpAfter = 30 * time.Second

// judging are the commands that write what they have found when they are interrupted. The others end at once, or, like up and
// serve, within a limit of their own.
var judging = []string{"check", "load", "explore", "age"}

// hurry ends an interrupted command. After a second another signal ends it at once (again), and a command that is still busy
// then says so. timeout(1) and some CI runners send each signal twice, to the process and to its group: within a second they
// are one. over is to be called when the command has ended.
func hurry(ctx context.Context, args []string, stderr io.Writer, again func(), end func(code int)) (over func()) {
	patient := len(args) > 0 && slices.Contains(judging, args[0])
	var mu sync.Mutex
	ended := false
	unless := func(f func()) func() {
		return func() {
			mu.Lock()
			defer mu.Unlock()
			if !ended {
				f()
			}
		}
	}
	giveUp := unless(func() {
		ended = true
		end(codeInterrupted)
	})
	tell := func(format string, args ...any) (told chan struct{}) { // nobody may be reading stderr
		told = make(chan struct{})
		go func() {
			defer close(told)
			fmt.Fprintf(stderr, format, args...)
		}()
		return told
	}
	context.AfterFunc(ctx, unless(func() {
		clock.WallAfter(time.Second, unless(func() {
			again()
			if patient {
				tell("doorlab: interrupted; what was found is being judged and written (at most %s; Ctrl-C again ends it at once)\n", giveUpAfter)
			}
		}))
		if patient {
			clock.WallAfter(giveUpAfter, unless(func() {
				told := tell("doorlab: %s after the interruption something still hangs, so %s ends without it; what it hadn't written by then is lost\n", giveUpAfter, args[0])
				clock.WallAfter(time.Second, giveUp)
				go func() {
					<-told
					giveUp()
				}()
			}))
		}
	}))
	return unless(func() { ended = true })
}

// lateServer tells, once, that an interrupted command doesn't wait for a server of its own any longer.
func lateServer(e *env) func(time.Duration) {
	var once sync.Once
	return func(waited time.Duration) {
		once.Do(func() {
			fmt.Fprintf(e.err, "doorlab: a server of this run hasn't ended %s after the interruption; going on without it\n", waited)
		})
	}
}
