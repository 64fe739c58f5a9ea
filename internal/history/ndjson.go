package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxLine bounds a line of a history that is read back.
const maxLine = 8 << 20

func write(w io.Writer, events []Event) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range events {
		if err := enc.Encode(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

// Write writes events as NDJSON.
func Write(w io.Writer, events []Event) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := write(b, events); err != nil {
		return err
	}
	return b.Flush()
}

// WriteSince writes the log's events after seq as NDJSON.
func (l *Log) WriteSince(w io.Writer, seq int64) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for _, p := range l.parts(seq) {
		if err := write(b, p); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Read reads NDJSON. Empty lines are skipped and unknown fields ignored; a last
// line without its newline that makes no sense is what a killed process left,
// and is dropped. Any other line that is no event is an error with its number.
func Read(r io.Reader) ([]Event, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	var out []Event
	for n := 1; ; n++ {
		line, err := readLine(br)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return out, fmt.Errorf("history: line %d: %w", n, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var e Event
			switch bad := json.Unmarshal(line, &e); {
			case bad != nil && !last:
				return out, fmt.Errorf("history: line %d: %w", n, bad)
			case bad == nil && e.Kind == "":
				return out, fmt.Errorf("history: line %d: event without a kind", n)
			case bad == nil:
				out = append(out, e)
			}
		}
		if last {
			return out, nil
		}
	}
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

// Merge joins the histories of several processes by WallNs and numbers them
// anew. Within one history the order stays as it was where stamps are equal or
// missing.
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
	slices.SortStableFunc(all, func(a, b stamped) int {
		switch {
		case a.wall < b.wall:
			return -1
		case a.wall > b.wall:
			return 1
		}
		return 0
	})
	out := make([]Event, len(all))
	for i, s := range all {
		out[i] = *s.e
		out[i].Seq = int64(i + 1)
	}
	return out
}
