package history

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// maxLine bounds a line of a history that is read back. The number of lines has
// no bound.
const maxLine = 8 << 20

// mostSources bounds Event.Src in a history that is read back: readers keep a list of all sources.
const mostSources = 1000

// ErrTruncated is returned for a history that doesn't end with its closing line,
// or whose closing line counts other events than came before it.
var ErrTruncated = errors.New("the history is not whole")

// Summary is what the closing line of a history says of the lines before it:
// how many there are, and the SHA-256 (hex) over them, newlines included.
type Summary struct {
	Count     int64  `json:"count"`
	SHA256    string `json:"sha256"`
	Recording string `json:"recording,omitempty"` // the id of the Spool's recording that they come from, "" = none
}

// Position is a place in a recording: after event Seq. The zero value is the beginning of a history without an id.
type Position struct {
	Recording string // its id
	Seq       int64
}

// closing is the last line of a whole history.
type closing struct {
	Kind string `json:"kind"`
	Summary
}

const kindEnd = "end"

// Writer writes events as NDJSON and closes with a line that counts them.
type Writer struct {
	Recording string // for the closing line

	buf *bufio.Writer
	enc *json.Encoder
	sum hash.Hash
	n   int64
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer {
	out := &Writer{buf: bufio.NewWriterSize(w, 1<<16), sum: sha256.New()}
	out.enc = encoder(io.MultiWriter(out.buf, out.sum))
	return out
}

func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// Write adds events.
func (w *Writer) Write(events []Event) error {
	for i := range events {
		if err := w.One(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

// One adds an event.
func (w *Writer) One(e *Event) error {
	w.n++
	return w.enc.Encode(e)
}

// line adds an encoded event with its newline.
func (w *Writer) line(b []byte) error {
	w.n++
	w.sum.Write(b)
	_, err := w.buf.Write(b)
	return err
}

// Close writes the closing line and flushes; it doesn't close what lies below.
func (w *Writer) Close() (Summary, error) {
	s := Summary{Count: w.n, SHA256: hex.EncodeToString(w.sum.Sum(nil)), Recording: w.Recording}
	if err := encoder(w.buf).Encode(closing{kindEnd, s}); err != nil {
		return s, err
	}
	return s, w.buf.Flush()
}

// Write writes events as a whole history.
func Write(w io.Writer, events []Event) error {
	out := NewWriter(w)
	if err := out.Write(events); err != nil {
		return err
	}
	_, err := out.Close()
	return err
}

// Read reads a whole history of any length. ErrTruncated, with the events so
// far, when its closing line is missing or counts others.
func Read(r io.Reader) ([]Event, error) {
	var out []Event
	_, err := Decode(r, func(e *Event) { out = append(out, *e) })
	return out, err
}

// Decode is Read event by event; each is called once per event, in order. Empty
// lines are skipped and unknown fields ignored. Any other line that is no event
// is an error with its number, a cut-off last one is ErrTruncated.
func Decode(r io.Reader, each func(*Event)) (Summary, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	sum := sha256.New()
	var have Summary
	for n := 1; ; n++ {
		line, err := readLine(br)
		cut := errors.Is(err, io.EOF)
		if err != nil && !cut {
			return have, fmt.Errorf("history: line %d: %w", n, err)
		}
		raw := line
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var e Event
			bad := json.Unmarshal(line, &e)
			switch {
			case bad != nil && cut:
				return have, fmt.Errorf("%w: line %d is cut off", ErrTruncated, n)
			case bad != nil:
				return have, fmt.Errorf("history: line %d: %w", n, bad)
			case e.Kind == "":
				return have, fmt.Errorf("history: line %d: event without a kind", n)
			case e.Src < 0 || e.Src > mostSources:
				return have, fmt.Errorf("history: line %d: src %d is not the number of a clock, which is from 0 to %d", n, e.Src, mostSources)
			case e.Kind == kindEnd:
				have.SHA256 = hex.EncodeToString(sum.Sum(nil))
				if err := have.matches(line); err != nil {
					return have, err
				}
				return have, onlySpace(br, n)
			}
			have.Count++
			sum.Write(raw)
			each(&e)
		}
		if cut {
			return have, fmt.Errorf("%w: no closing line after %d events", ErrTruncated, have.Count)
		}
	}
}

// onlySpace rejects anything after the closing line, line n, which
// neither its count nor its sum covers.
func onlySpace(r io.Reader, n int) error {
	part := make([]byte, 4<<10)
	for {
		k, err := r.Read(part)
		switch {
		case len(bytes.TrimSpace(part[:k])) > 0:
			return fmt.Errorf("history: line %d is its closing line, but more follows", n)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("history: after line %d: %w", n, err)
		}
	}
}

// matches compares what was read with the closing line, and takes the recording's id from it.
func (s *Summary) matches(line []byte) error {
	var want closing
	if err := json.Unmarshal(line, &want); err != nil {
		return fmt.Errorf("history: closing line: %w", err)
	}
	switch {
	case want.Count != s.Count:
		return fmt.Errorf("%w: %d events, but its closing line says %d", ErrTruncated, s.Count, want.Count)
	case want.SHA256 != s.SHA256:
		return fmt.Errorf("%w: its %d events are not those that were written (SHA-256 differs)", ErrTruncated, s.Count)
	}
	s.Recording = want.Recording
	return nil
}

// readLine reads up to and including a newline, at most maxLine bytes.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, errors.New("line too long")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Merge joins the histories of several processes by WallNs and renumbers them.
// Where stamps are equal or missing, events of one history keep their order.
func Merge(histories ...[]Event) []Event {
	type stamped struct {
		wall int64
		e    *Event
	}
	var all []stamped
	for _, h := range histories {
		wall := int64(0)
		for i := range h {
			if h[i].WallNs != 0 {
				wall = h[i].WallNs
			}
			all = append(all, stamped{wall, &h[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b stamped) int { return cmp.Compare(a.wall, b.wall) })
	out := make([]Event, len(all))
	for i, s := range all {
		out[i] = *s.e
		out[i].Seq = int64(i + 1)
	}
	return out
}
