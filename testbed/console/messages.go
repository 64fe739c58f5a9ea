package console

import (
	"regexp"

	"github.com/doorlab/doorlab/internal/wire"
)

// ticking are the fields of a message that differ although it says the same.
var ticking = regexp.MustCompile(`"(sessionMs|time)": -?[0-9]+`)

// foldedMessages makes rows of messages, at most n. A message that says the same as one of the two rows before it is
// counted there: a quiet board asks every minute whether its content is right, and is told that it is, and the one
// command would be lost among these pairs. Commands, reports and records are rows of their own.
func foldedMessages(list []Message, n int) (out []messageRow) {
	type same struct {
		down bool
		text string
	}
	var before []same // of the rows
	for _, m := range list {
		row := messageOf(m)
		s := same{m.Down, m.Channel + ticking.ReplaceAllString(row.Text, "")}
		if at := len(out) - 1; m.Channel != wire.DownCmd && m.Channel != wire.UpRpt && m.Channel != wire.UpRec {
			for at >= max(0, len(out)-2) && before[at] != s {
				at--
			}
			if at >= max(0, len(out)-2) {
				out[at].Times, out[at].First = max(out[at].Times, 1)+1, row.Time
				continue
			}
		}
		if len(out) == n {
			break
		}
		out, before = append(out, row), append(before, s)
	}
	return out
}
