package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/doorlab/doorlab/internal/judge"
)

// WriteTAP writes the cases of junit.xml in the Test Anything Protocol, version 13, which every consumer knows: one
// flat list, with details of failures as comments below them.
func WriteTAP(w io.Writer, res Result) error { return WriteTests(w, suites(res)) }

// WriteTests writes suites in the Test Anything Protocol.
func WriteTests(w io.Writer, suites []Suite) error {
	var b strings.Builder
	n := 0
	for _, s := range suites {
		for _, c := range s.Cases {
			n++
			tapCase(&b, n, s.Name, c)
		}
	}
	_, err := fmt.Fprintf(w, "TAP version 13\n1..%d\n%s", n, b.String())
	return err
}

func tapCase(b *strings.Builder, n int, suite string, c Case) {
	word, ok := "ok", c.Status == judge.Pass || c.Status == judge.Skipped
	if !ok {
		word = "not ok"
	}
	fmt.Fprintf(b, "%s %d - %s", word, n, strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(oneLine(suite+": "+c.Name)))
	if c.Status == judge.Skipped {
		fmt.Fprintf(b, " # SKIP %s", oneLine(c.Why))
	}
	b.WriteString("\n")
	if ok {
		return
	}
	fmt.Fprintf(b, "  ---\n  severity: %s\n  message: %q\n", strings.ToLower(string(c.Status)), oneLine(FirstLine(c.Why)))
	if c.File != "" {
		fmt.Fprintf(b, "  file: %q\n", oneLine(c.File))
	}
	if c.Line > 0 {
		fmt.Fprintf(b, "  line: %d\n", c.Line)
	}
	b.WriteString("  ...\n")
	for line := range strings.Lines(strings.TrimSpace(printable(cmp.Or(c.Text, c.Why)))) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
}

// oneLine puts a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }
