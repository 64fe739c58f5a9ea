package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// formats are the files that present a run's result: the same content, for programs and for people.
var formats = map[string]func(io.Writer, Result) error{
	verdictsFile: WriteJSON, "junit.xml": WriteJUnit, "report.tap": WriteTAP, "summary.md": WriteSummary, "report.html": WriteHTML, "report.txt": WriteTable,
}

// WriteDir writes a run directory: the scenario files, config.json, history.ndjson and all formats. Judge reads the
// history again.
func WriteDir(dir string, res Result) error {
	if err := os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755); err != nil {
		return err
	}
	for _, f := range res.Files {
		path := filepath.Join(dir, "scenarios", stored(res.Files, f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Source, 0o644); err != nil {
			return err
		}
	}
	config, err := json.MarshalIndent(map[string]any{"seed": res.Seed, "started": res.Started, "target": res.Target, "config": res.Config}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), append(config, '\n'), 0o644); err != nil {
		return err
	}
	res.Shards = kept(res.Shards, dir)
	if len(res.Shards) == 0 { // shards' histories stay where they are
		if res.History, err = writeHistory(filepath.Join(dir, historyFile), res.Events); err != nil {
			return err
		}
	}
	if err := WriteClocks(dir, res.Clocks); err != nil {
		return err
	}
	for name, write := range formats {
		if err := writeFile(filepath.Join(dir, name), res, write); err != nil {
			return err
		}
	}
	return nil
}

// loadFiles are what load writes and check doesn't.
var loadFiles = []string{"result.json", "results.bin"}

// MakeDir creates the directory of a load. What an earlier run left in it is removed: a directory has one run. A load has no
// config.json and no scenarios, so those in a load's directory are somebody's own.
func MakeDir(dir string) error {
	if IsDir(os.DirFS(dir), ".") {
		return ClearDir(dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range loadFiles {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return remove(dir, anyRun())
		}
	}
	return nil
}

// ClearDir creates the run directory, or removes what an earlier run, also one of load, left in it. Files that no run
// writes stay.
func ClearDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(filepath.Join(dir, "scenarios")), remove(dir, append(anyRun(), "config.json")))
}

// RunningFile is in a run directory while a run writes there, and stays if that is killed.
const RunningFile = ".running"

// Strange names something in a directory that a run would replace although no run wrote it; "" for a run directory, and for
// one that has nothing of the kind. A load has no config.json and no scenarios.
func Strange(dir string, load bool) string {
	there := func(name string) bool { _, err := os.Lstat(filepath.Join(dir, name)); return err == nil }
	if IsDir(os.DirFS(dir), ".") || there(RunningFile) || slices.ContainsFunc(loadFiles, there) {
		return ""
	}
	names := anyRun()
	if !load {
		names = append(names, "config.json", "scenarios")
	}
	slices.Sort(names)
	if i := slices.IndexFunc(names, there); i >= 0 {
		return names[i]
	}
	return ""
}

// anyRun lists the files that both kinds of runs leave, or that only a load does.
func anyRun() []string {
	return slices.Concat([]string{historyFile, clocksFile, MetricsFile}, loadFiles, slices.Collect(maps.Keys(formats)))
}

// remove removes files of dir; one that isn't there is no error.
func remove(dir string, names []string) error {
	var errs []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// IsDir reports whether a folder of fsys is a run directory.
func IsDir(fsys fs.FS, dir string) bool {
	return !slices.ContainsFunc([]string{"config.json", verdictsFile}, func(name string) bool {
		info, err := fs.Stat(fsys, path.Join(dir, name))
		return err != nil || info.IsDir()
	})
}

const historyFile = "history.ndjson"

// MetricsFile has the last values of a run's metrics, in the format that Prometheus' node_exporter reads.
const MetricsFile = "metrics.prom"

const clocksFile = "clocks.json"

// WriteClocks writes the measured offsets of a target's clocks; nothing for a run in one process.
func WriteClocks(dir string, clocks history.Clocks) error {
	if len(clocks) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(clocks, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, clocksFile), append(text, '\n'), 0o644)
}

// writeHistory streams the events to a file and returns their count and checksum.
func writeHistory(path string, events []history.Event) (sum history.Summary, err error) {
	f, err := os.Create(path)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := history.NewWriter(f)
	if err := w.Write(events); err != nil {
		return sum, err
	}
	return w.Close()
}

// stored is where a run directory keeps a file: under its name, including folders if another file of the run has the
// same name.
func stored(files []FileResult, path string) string {
	if len(each.If(files, func(f FileResult) bool { return filepath.Base(f.Path) == filepath.Base(path) })) < 2 {
		return filepath.Base(path)
	}
	clean := filepath.Clean("/" + strings.ReplaceAll(filepath.ToSlash(path), "../", "up/"))
	return strings.TrimPrefix(clean, "/")
}

func writeFile(path string, res Result, write func(io.Writer, Result) error) error {
	var b bytes.Buffer
	if err := write(&b, res); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Judge judges the history of a run directory again, with this build's checkers; the steps' assertions stay as written.
// It returns an error for verdicts of another format or that were changed, see readVerdicts, and for a history other
// than the one they were written with: history.ErrTruncated, or one that names both. For a merged result, the shards are judged again and merged. Only one world's events are in memory
// at a time.
func Judge(dir string) (Result, error) {
	res, err := readVerdicts(dir)
	if err != nil {
		return res, err
	}
	if len(res.Shards) == 0 {
		return judgeDir(dir, func(Result) {})
	}
	dirs := make([]string, len(res.Shards))
	for i, s := range res.Shards {
		if dirs[i], err = KeptAt(dir, s.Dir); err != nil {
			return res, err
		}
	}
	return Merge(dirs...), nil
}

// judgeDir calls each with the result as written and the events of one world after another. It returns ErrMerged, with
// what was written, for a merged result.
func judgeDir(dir string, each func(Result)) (Result, error) {
	res, err := readVerdicts(dir)
	if err == nil && len(res.Shards) > 0 {
		err = ErrMerged
	}
	if err != nil {
		return res, err
	}
	s := settlingOf(&res)
	err = readHistory(filepath.Join(dir, historyFile), res.History, func(name string, world []history.Event) {
		s.world(name, world)
		told := res
		told.Events = world
		each(told)
	})
	if err != nil {
		return res, err
	}
	for _, r := range res.Ledger {
		res.Assertions = append(res.Assertions, r.Assertions...)
	}
	for i := range res.Files {
		res.Files[i].Source, _ = os.ReadFile(filepath.Join(dir, "scenarios", stored(res.Files, res.Files[i].Path)))
	}
	s.done()
	return res, nil
}

// readHistory reads the history on which a run directory's verdicts are based, and calls f with each of its worlds, at
// least one.
func readHistory(path string, want history.Summary, f func(name string, world []history.Event)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	var events []history.Event
	name, n := "", 0
	give := func() {
		f(name, events)
		events, n = nil, n+1
	}
	sum, err := history.Decode(file, func(e *history.Event) {
		switch {
		case e.Kind != history.World:
			events = append(events, *e)
		case len(events) > 0:
			give()
			fallthrough
		default:
			name = worldOf(e)
		}
	})
	if err == nil && (len(events) > 0 || n == 0) {
		give()
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case sum != want:
		return fmt.Errorf("%s has %d events, SHA-256 %s; verdicts.json was made from %d events, SHA-256 %s: this is not that run's history",
			path, sum.Count, sum.SHA256, want.Count, want.SHA256)
	}
	return nil
}
