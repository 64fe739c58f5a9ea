package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/doorlab/doorlab/internal/judge"
)

const verdictsFile = "verdicts.json"

// WriteJSON writes everything except the history, with a digest of it.
func WriteJSON(w io.Writer, res Result) error {
	res.Schema, res.Digest = SchemaVersion, ""
	res.Files, res.Target.Control, res.Target.Places = listed(res.Files), listed(res.Target.Control), listed(res.Target.Places)
	for i := range res.Files {
		res.Files[i].Steps = listed(res.Files[i].Steps)
	}
	encode := func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(res)
	}
	var b bytes.Buffer
	err := encode(&b)
	if err == nil {
		res.Digest, err = Digest(b.Bytes())
	}
	if err != nil {
		return err
	}
	return encode(w)
}

// Digest is the SHA-256 of a verdicts.json, or of a load's result.json, without its field digest, in Go's compact JSON with
// sorted keys, so that formatting it differently changes nothing. It isn't a secret: it notices what was changed by mistake.
func Digest(raw []byte) (string, error) {
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		return "", err
	}
	delete(all, "digest")
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// readVerdicts reads what a run directory says of its run. It returns an error for a version of the format that this
// build doesn't know, and for content other than what was written. A file without a digest is from an earlier build.
func readVerdicts(dir string) (res Result, err error) {
	path := filepath.Join(dir, verdictsFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return res, err
	}
	var as struct {
		Schema  int
		Version string
		Status  judge.Status
	}
	if err := json.Unmarshal(raw, &as); err == nil && as.Schema != SchemaVersion {
		return Result{Status: as.Status}, fmt.Errorf("%s has schema %d, but this doorlab reads schema %d: use the version that wrote it%s", path, as.Schema, SchemaVersion, bracketed(as.Version))
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s isn't what check writes there", wrong.Value)
		}
		return res, fmt.Errorf("%s: %w", path, err)
	}
	if res.Digest == "" && res.History.Count == 0 {
		return res, nil
	}
	if err := Unchanged(path, raw, res.Digest); err != nil {
		return Result{Status: res.Status}, err
	}
	return res, nil
}

// Unchanged returns an error unless a file has the content that was written: the Digest that it names.
func Unchanged(path string, raw []byte, named string) error {
	if named == "" { // else another history could be put beside it
		return fmt.Errorf("%s has no digest, which every run with a history has: it was changed, or an old build wrote it", path)
	}
	if is, err := Digest(raw); err != nil || is != named {
		return fmt.Errorf("%s was changed after the run: its content has SHA-256 %s, not %s", path, is, named)
	}
	return nil
}

// bracketed is " (text)", or nothing.
func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
