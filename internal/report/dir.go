package report

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/scenario"
)

// WriteDir writes a run directory: the scenario files, config.json,
// history.ndjson, verdicts.json, report.txt, junit.xml, summary.md, report.html.
// Judge reads the history again.
func WriteDir(dir string, res scenario.Result) error {
	if err := os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755); err != nil {
		return err
	}
	for _, f := range res.Files {
		if err := os.WriteFile(filepath.Join(dir, "scenarios", filepath.Base(f.Path)), f.Source, 0o644); err != nil {
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
	for name, write := range map[string]func(io.Writer, scenario.Result) error{
		"verdicts.json": WriteJSON, "junit.xml": WriteJUnit, "summary.md": WriteSummary, "report.html": WriteHTML, "report.txt": WriteTable,
		"history.ndjson": func(w io.Writer, res scenario.Result) error { return history.Write(w, res.Events) },
	} {
		if err := writeFile(filepath.Join(dir, name), res, write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, res scenario.Result, write func(io.Writer, scenario.Result) error) error {
	var b bytes.Buffer
	if err := write(&b, res); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Judge judges the history of a run directory again, by the checkers of this
// build; what the steps asserted stays as it was written.
func Judge(dir string) (scenario.Result, error) {
	var res scenario.Result
	raw, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	if err != nil {
		return res, err
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return res, err
	}
	f, err := os.Open(filepath.Join(dir, "history.ndjson"))
	if err != nil {
		return res, err
	}
	defer func() { _ = f.Close() }()
	events, err := history.Read(f)
	if err != nil {
		return res, err
	}
	for _, r := range res.Ledger {
		res.Assertions = append(res.Assertions, r.Assertions...)
	}
	for i := range res.Files {
		res.Files[i].Source, _ = os.ReadFile(filepath.Join(dir, "scenarios", filepath.Base(res.Files[i].Path)))
	}
	res.Settle(events)
	return res, nil
}
