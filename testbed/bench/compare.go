package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/testbed"
)

// compare lets another build and this one take turns, and prints both, with this one's throughput relative to the
// other's.
func compare(ctx context.Context, p plan, out, progress io.Writer) error {
	mine, err := os.Executable()
	if err != nil {
		return err
	}
	for _, s := range p.settings() {
		t := &table{link: s.link, client: s.client, callers: s.callers, boards: s.boards}
		for round := range p.rounds {
			fmt.Fprintf(progress, "round %d of %d\n", round+1, p.rounds)
			for _, of := range []struct{ name, binary string }{{"old", p.compare}, {"new", mine}} {
				rows, err := oneTurn(ctx, of.binary, p, s)
				if err != nil {
					return fmt.Errorf("%s: %w", of.binary, err)
				}
				for _, r := range rows {
					t.add(of.name+" "+r.Name, r.Turns[0])
				}
			}
		}
		slices.SortStableFunc(t.rows, func(a, b *row) int { return cmp.Compare(subjectOf(a), subjectOf(b)) }) // old and new side by side
		t.print(out)
	}
	return nil
}

func subjectOf(r *row) string {
	_, name, _ := strings.Cut(r.Name, " ")
	return name
}

// oneTurn runs a build for one turn of each subject.
func oneTurn(ctx context.Context, binary string, p plan, at setup) (rows []*row, err error) {
	run := exec.CommandContext(ctx, binary, "-json", "-rounds", "1", "-links", at.link, "-callers", fmt.Sprint(at.callers),
		"-boards", fmt.Sprint(at.boards), "-for", p.round.String(), "-only", strings.Join(at.only, ","))
	run.Args = append(run.Args, "-rows", fmt.Sprint(at.rows), "-records", fmt.Sprint(at.records), "-permits", fmt.Sprint(at.permits))
	if p.rate > 0 {
		run.Args = append(run.Args, "-rate", fmt.Sprint(p.rate))
	}
	if at.client != testbed.Paho { // older builds don't know the flag
		run.Args = append(run.Args, "-client", at.client)
	}
	var stderr bytes.Buffer
	run.Stderr = &stderr
	raw, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return rows, json.Unmarshal(raw, &rows)
}
