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

// WriteJUnit writes one suite a scenario file and one of the guarantees.
func WriteJUnit(w io.Writer, res Result) error {
	all := junit.Testsuites{Name: "doorlab", Time: seconds(res.Seconds)}
	for i, f := range res.Files {
		all.AddSuite(fileSuite(i, f))
	}
	all.AddSuite(ledgerSuite(len(res.Files), res))
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

func fileSuite(id int, f FileResult) junit.Testsuite {
	s := junit.Testsuite{ID: id, Name: stem(f.Path), File: f.Path, Time: seconds(f.Seconds)}
	s.SetTimestamp(f.Started.UTC())
	if f.Description != "" {
		s.AddProperty("description", f.Description)
	}
	for _, c := range f.Clauses {
		s.AddProperty("clause", c)
	}
	steps := leaves(f.Steps)
	if len(steps) == 0 { // skipped or blocked before the first step
		s.AddTestcase(verdictCase(f.Name, stem(f.Path), f.Seconds, f.Status, f.Reason, ""))
	}
	for i, st := range steps {
		s.AddTestcase(verdictCase(fmt.Sprintf("%02d %s", i+1, st.Name), stem(f.Path), st.Seconds, st.Status, st.Detail, ""))
	}
	if f.Status != judge.Pass && f.Status != judge.Skipped && s.Failures+s.Errors == 0 { // a file's verdict never gets lost
		s.AddTestcase(verdictCase(f.Name, stem(f.Path), f.Seconds, f.Status, f.Reason, ""))
	}
	return s
}

func ledgerSuite(id int, res Result) junit.Testsuite {
	s := junit.Testsuite{ID: id, Name: "guarantees", Time: "0.000"}
	s.SetTimestamp(res.Started.UTC())
	for _, r := range res.Ledger {
		data := ""
		if r.FirstBad != nil {
			data = r.FirstBad.String()
		}
		s.AddTestcase(verdictCase(r.Clause+" "+r.Promise, "guarantees", 0, r.Status, r.Told(), data))
	}
	return s
}

// printable drops the control characters that XML cannot hold, not even escaped.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, s)
}

// verdictCase maps a verdict: FAIL is a failure, BLOCKED and INVALID are errors.
func verdictCase(name, class string, took float64, st judge.Status, why, data string) junit.Testcase {
	why, data = printable(why), printable(data)
	c := junit.Testcase{Name: printable(name), Classname: class, Time: seconds(took)}
	r := &junit.Result{Message: firstLine(why), Type: string(st), Data: data}
	if data == "" && firstLine(why) != why {
		r.Data = why
	}
	switch st {
	case judge.Fail:
		c.Failure = r
	case judge.Blocked, judge.Invalid:
		c.Error = r
	case judge.Skipped:
		c.Skipped = r
	default:
		if why != "" {
			c.SystemOut = &junit.Output{Data: why}
		}
	}
	return c
}
