package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/doorlab/doorlab/internal/judge"
)

// testcase is a case with its position.
type testcase struct {
	junit.Testcase
	File string `xml:"file,attr,omitempty"`
	Line int    `xml:"line,attr,omitempty"`
}

// testsuite counts and writes cases with positions. Its counts are written also if they are 0: some readers take a missing one
// for an error.
type testsuite struct {
	junit.Testsuite
	Skips int        `xml:"skipped,attr"`
	Cases []testcase `xml:"testcase"`
}

type testsuites struct {
	junit.Testsuites
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skips    int         `xml:"skipped,attr"`
	XMLName  xml.Name    `xml:"testsuites"`
	Suites   []testsuite `xml:"testsuite"`
}

// WriteJUnit writes one suite per scenario file, one for the guarantees and one for the run as a whole.
func WriteJUnit(w io.Writer, res Result) error {
	return WriteSuites(w, res.Seconds, suites(res))
}

// WriteSuites writes JUnit XML.
func WriteSuites(w io.Writer, took float64, suites []Suite) error {
	all := testsuites{Testsuites: junit.Testsuites{Name: "doorlab", Time: seconds(took)}}
	for i, s := range suites {
		t := testsuite{Testsuite: junit.Testsuite{ID: i, Name: s.Name, File: s.File, Time: seconds(s.Seconds)}}
		t.SetTimestamp(s.Started.UTC())
		for _, p := range s.Properties {
			t.AddProperty(p[0], p[1])
		}
		for _, c := range s.Cases {
			one := testcase{verdictCase(s.Name, c), c.File, c.Line}
			t.AddTestcase(one.Testcase)
			t.Cases = append(t.Cases, one)
		}
		t.Testcases, t.Skips = nil, t.Skipped
		all.AddSuite(t.Testsuite)
		all.Suites = append(all.Suites, t)
	}
	sum := all.Testsuites
	all.Tests, all.Failures, all.Errors, all.Skips = sum.Tests, sum.Failures, sum.Errors, sum.Skipped
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "\t")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

// printable drops control characters that XML can't contain, even escaped.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, s)
}

// verdictCase maps a verdict: FAIL is a failure, BLOCKED and INVALID are errors.
func verdictCase(class string, c Case) junit.Testcase {
	why := printable(c.Why)
	out := junit.Testcase{Name: printable(c.Name), Classname: class, Time: seconds(c.Seconds)}
	r := &junit.Result{Message: FirstLine(why), Type: string(c.Status), Data: printable(c.Text)}
	if r.Data == "" && FirstLine(why) != why {
		r.Data = why
	}
	switch c.Status {
	case judge.Fail:
		out.Failure = r
	case judge.Blocked, judge.Invalid:
		out.Error = r
	case judge.Skipped:
		out.Skipped = r
	default:
		if why != "" {
			out.SystemOut = &junit.Output{Data: why}
		}
	}
	return out
}
