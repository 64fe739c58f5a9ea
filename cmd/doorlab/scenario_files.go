package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/scenarios"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// scenarioFiles reads the files given, each a path or the name of a built-in one, or the built-in suite: those that are
// wanted, so that a mistake in another doesn't matter. nil: all.
func scenarioFiles(args []string, wanted func(file string) bool) ([]*engine.File, error) {
	names, err := builtIn()
	if err != nil {
		return nil, err
	}
	var named, paths []string
	if len(args) == 0 {
		named = each.Of(names, func(name string) string { return name + ".yaml" })
	}
	for _, arg := range args {
		_, err := os.Stat(arg)
		name := strings.TrimSuffix(arg, ".yaml")
		switch {
		case arg == "":
			return nil, usagef("an argument is empty: name a file, a directory or a built-in scenario")
		case errors.Is(err, fs.ErrNotExist) && slices.Contains(names, name):
			if file := name + ".yaml"; !slices.Contains(named, file) {
				named = append(named, file)
			}
		case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, `/\.`):
			hint := near.Hint(arg, names)
			if family := each.If(names, func(n string) bool { return strings.HasPrefix(n, arg+"_") }); len(family) > 1 {
				hint = fmt.Sprintf("; %s begin with it: --only '%s_*'", amount.Many(len(family), "scenario"), arg)
			}
			if _, err := os.Stat(arg + ".yaml"); err == nil {
				hint = ", did you mean " + arg + ".yaml?"
			}
			return nil, usagef("%s: neither a file nor a built-in scenario%s ('doorlab check list' lists them)", arg, hint)
		case errors.Is(err, fs.ErrNotExist):
			return nil, usagef("%s: no such file or directory%s", arg, fileHint(arg))
		default:
			paths = append(paths, arg)
		}
	}
	if paths, err = engine.Names(paths...); err != nil {
		return nil, fileError(err)
	}
	if wanted != nil {
		named, paths = each.If(named, wanted), each.If(paths, wanted)
	}
	out, err := engine.ParseFS(scenarios.Files, named)
	if err != nil {
		return nil, fileError(err)
	}
	own, err := engine.Load(paths...)
	return append(out, own...), fileError(err)
}

// fileHint names the file beside a missing one that was probably meant.
func fileHint(missing string) string {
	dir := filepath.Dir(missing)
	files, err := os.ReadDir(dir)
	best := near.Name(filepath.Base(missing), each.Of(files, fs.DirEntry.Name))
	if err != nil || best == "" {
		return ""
	}
	return ", did you mean " + filepath.Join(dir, best) + "?"
}

func builtIn() ([]string, error) {
	files, err := fs.Glob(scenarios.Files, "*.yaml")
	return each.Of(files, func(f string) string { return strings.TrimSuffix(f, ".yaml") }), err
}

// fileError gives what is wrong with scenario files its exit code.
func fileError(err error) error {
	var problems engine.Problems
	switch {
	case errors.As(err, &problems):
		return exit{codeBadScenario, problems.Error()}
	case err != nil:
		return usagef("%s", reason(err))
	}
	return nil
}
