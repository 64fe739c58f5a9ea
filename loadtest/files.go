package loadtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/vocab"
)

// ErrOut: the results can't be written.
var ErrOut = errors.New("the results can't be written")

// unwritten is an error of the disk as an ErrOut; nil stays nil.
func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrOut, err)
}

// files of a run in Options.OutDir: results.bin (vegeta's own format), the reports of
// Write, and history.ndjson of a run that was judged.
type files struct {
	dir string
	bin *os.File
	buf *bufio.Writer
}

func (r *runner) create() (*files, error) {
	f := &files{dir: r.opts.OutDir}
	if f.dir == "" {
		return f, nil
	}
	if err := report.MakeDir(f.dir); err != nil {
		return nil, err
	}
	bin, err := os.Create(filepath.Join(f.dir, "results.bin"))
	if err != nil {
		return nil, err
	}
	f.bin, f.buf = bin, bufio.NewWriterSize(bin, 1<<16)
	r.encode = vegeta.NewEncoder(f.buf)
	return f, nil
}

// finish writes everything; again, to replace the reports.
func (f *files) finish(res Result) error {
	if f.dir == "" {
		return nil
	}
	var err error
	if f.bin != nil { // nothing more is sent after the first time
		err = errors.Join(f.buf.Flush(), f.bin.Close())
		f.bin = nil
	}
	return errors.Join(err, res.Write(f.dir))
}

// Write writes the reports into dir: the same content for programs and for people.
func (r Result) Write(dir string) error {
	r.Schema, r.Shards, r.Thresholds = SchemaVersion, slices.Clone(r.Shards), r.marked()
	for i := range r.Shards {
		r.Shards[i].Dir = report.KeptDir(dir, r.Shards[i].Dir)
	}
	r.Digest = ""
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		r.Digest, err = report.Digest(text)
		text, _ = json.MarshalIndent(r, "", "  ") // as before
	}
	var xml, tap, summary strings.Builder
	err = errors.Join(err, report.WriteSuites(&xml, r.Seconds, r.suites()), report.WriteTests(&tap, r.suites()), r.WriteSummary(&summary))
	write := func(name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	return errors.Join(err, write("result.json", string(text)+"\n"), write("report.txt", r.Text()), write("report.html", r.HTML()),
		write("junit.xml", xml.String()), write("report.tap", tap.String()), write("summary.md", summary.String()))
}

// ReadResult reads a result.json, or the one in a directory. Errors: content other than what was written. One that judged a
// history has a digest; others may be of earlier builds.
func ReadResult(path string) (Result, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "result.json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Result{}, err
	}
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		return Result{}, fmt.Errorf("%s: is not a result.json: %w", path, err)
	}
	if r.Schema > SchemaVersion {
		return Result{Verdict: r.Verdict}, fmt.Errorf("%s has schema %d, but this doorlab reads schema %d", path, r.Schema, SchemaVersion)
	}
	if r.Digest != "" || r.Guarantees != nil && r.Guarantees.History != nil {
		if err := report.Unchanged(path, text, r.Digest); err != nil {
			return Result{Verdict: r.Verdict}, err
		}
	}
	r.Digest = "" // Write computes it
	return r, nil
}

// ReadBaseline reads the result of an earlier run to compare with, as ReadResult does.
func ReadBaseline(path string) (Result, error) {
	r, err := ReadResult(path)
	if err == nil && len(r.Series) == 0 {
		err = fmt.Errorf("%s: has no measurements of a load; name the result.json of one", path)
	}
	return r, err
}

// outcome finds one by name; zero if it didn't occur.
func (r Result) outcome(name vocab.Outcome) Outcome { return named(r.Outcomes, name) }

// named is the outcome of that name, without requests if there is none.
func named(all []Outcome, name vocab.Outcome) Outcome {
	if i := slices.IndexFunc(all, func(o Outcome) bool { return o.Name == name }); i >= 0 {
		return all[i]
	}
	return Outcome{Name: name}
}
