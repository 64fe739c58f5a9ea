package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
)

// watchEvery is how often watched files are looked at, in wall time. One that has just been saved is given as long to become
// complete.
const watchEvery = 300 * time.Millisecond

// watched are the files that check --watch looks at, with what tells that one has changed.
type watched map[string]stamp

type stamp struct {
	at   time.Time
	size int64
}

// watch runs once, and again after each change of the files at these paths, until ctx ends.
func watch(ctx context.Context, e *env, paths []string, once func() error) error {
	for {
		seen := look(paths)
		if len(seen) == 0 {
			return usagef("--watch needs files or directories to watch; built-in scenarios don't change")
		}
		err := once()
		if ctx.Err() != nil {
			return err
		}
		if x, ours := errors.AsType[exit](err); ours && x.msg != "" {
			e.complain(x.msg)
		}
		fmt.Fprintf(e.err, "watching %s; press Ctrl-C to stop\n", amount.Many(len(seen), "file"))
		if seen.wait(ctx, paths) != nil {
			return exit{codeInterrupted, ""}
		}
	}
}

// wait returns when the files have changed and then stayed as they are for a moment. Error: ctx's.
func (w watched) wait(ctx context.Context, paths []string) error {
	for last := w; ; {
		if err := client.Pause(ctx, watchEvery); err != nil {
			return err
		}
		now := look(paths)
		if len(now) > 0 && maps.Equal(now, last) && !maps.Equal(now, w) {
			return nil
		}
		last = now
	}
}

// look finds the files at these paths, in directories those that end in .yaml or .yml. What isn't there is left out.
func look(paths []string) watched {
	out := watched{}
	for _, path := range paths {
		_ = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error { // what can't be read doesn't change either
			if err == nil && !d.IsDir() && (file == path || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(file))) {
				if info, err := os.Stat(file); err == nil {
					out[file] = stamp{info.ModTime(), info.Size()}
				}
			}
			return nil
		})
	}
	return out
}
