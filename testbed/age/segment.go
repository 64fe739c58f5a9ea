package age

import (
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// Calm is checked a few times, a digest's interval apart.
const (
	calmTries = 20
	calmStep  = 2 * time.Minute
)

// calm ends a segment: nothing is in progress, and every board is connected, in sync, and has delivered its records.
func (r *run) calm(to time.Time) error {
	for board := range r.armed {
		return fmt.Errorf("a fault is left: %s", board) // can't happen: drawn so that none is
	}
	at := to.Add(-calmTries / 2 * calmStep)
	restless := ""
	r.quiet = true
	for range calmTries {
		if at = at.Add(calmStep); at.After(r.clk.Now()) {
			if err := r.clk.Advance(at); err != nil {
				return err
			}
		}
		if restless = r.restless(); restless == "" && !at.Before(to) {
			return nil
		}
	}
	if restless != "" { // leave it to the judge what that breaks; but the next segment doesn't begin at rest
		r.quiet = false
		r.note("%s: %s", to.Format(time.DateOnly), restless)
	}
	return nil
}

// restless names the first board that isn't connected, in sync and without buffered records.
func (r *run) restless() string {
	for _, p := range r.places {
		a := serve(r.lab, http.MethodGet, control.Prefix+"/boards?limit=500&placeId="+p.id, r.token, "", "", nil)
		for _, b := range data[[]control.Board](a) {
			switch {
			case !b.Online:
				return b.BoardID + " isn't connected"
			case b.AppliedRevision < b.DesiredRevision:
				return fmt.Sprintf("%s has revision %d of %d", b.BoardID, b.AppliedRevision, b.DesiredRevision)
			case b.BufferedRecords > 0:
				return fmt.Sprintf("%s keeps %d records", b.BoardID, b.BufferedRecords)
			}
		}
	}
	return ""
}

// cut ends the log of a segment and starts the next one's with the present state.
func (r *run) cut() []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.log
	r.log = make([]history.Event, 0, len(old)+len(old)/8)
	for _, e := range r.standing.Events() {
		r.append(e)
	}
	r.kept.from(old[r.found:])
	for _, e := range r.kept.events(r.clk.Now(), r.permitsKept()) {
		r.append(e)
	}
	begun := ""
	if r.quiet {
		begun = history.Quiet
	}
	r.append(history.Event{Kind: history.Begun, Op: begun, At: r.clk.Now().UnixMilli(), WallNs: wallNs()})
	r.found = len(r.log)
	return old
}

// judge has a finished segment judged while the next one is played.
func (r *run) judge(from time.Time) {
	r.judging.Wait()
	log, now, took := r.cut(), r.counts(), clock.Mono()-r.since
	name, had := dayRange(from, r.clk.Now())+r.of(), now.since(r.last)
	lost := r.clk.Abandoned() - r.lost
	r.last, r.since, r.lost = now, clock.Mono(), r.lost+lost
	r.judging.Go(func() { r.verdict(name, log, had, took, lost) })
}

// dayRange is the first and the last day of a segment, or its only one.
func dayRange(from, to time.Time) string {
	first, last := from.Format(time.DateOnly), to.Format(time.DateOnly)
	if first == last {
		return first
	}
	return first + " to " + last
}

// verdict judges a segment, in which jumps of the clock gave up on lost messages: their effects happened at another time,
// if at all.
func (r *run) verdict(name string, log []history.Event, had Counts, took time.Duration, lost int64) {
	began := clock.Mono()
	verdicts := judge.Judge(judge.NewView(log))
	f := report.FileResult{Path: name, Name: name, Status: judge.Pass, Started: clock.WallNow(), Seconds: took.Seconds()}
	for _, v := range verdicts {
		if v.Status == judge.Fail {
			f.Status, f.Reason = judge.Fail, v.Clause+": "+v.Number
			break
		}
	}
	if why := fmt.Sprintf("jumps of the clock gave up on %s that had not arrived", amount.Many(int(lost), "message")); lost > 0 && f.Status == judge.Fail {
		f.Reason += "; " + why
	} else if lost > 0 {
		f.Status, f.Reason = judge.Invalid, why
	}
	if !r.breached {
		r.breached = f.Status == judge.Fail
		r.evidence, r.shown = log, name
	}
	r.verdicts = judge.Combine(r.verdicts, verdicts)
	f.Description = told(had, len(log), clock.Mono()-began)
	f.Source = []byte(f.Description + "\n")
	r.files = append(r.files, f)
}

// told describes a segment in a line.
func told(c Counts, events int, judged time.Duration) string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%s, %s, %s; %s, judged in %.1f s; heap %d MB, resident %d MB",
		amount.Many(c.Decisions, "decision"), amount.Many(sum(c.Changes), "change"), amount.Many(sum(c.Mishaps), "mishap"), amount.Many(events, "event"), judged.Seconds(), m.HeapAlloc>>20, resident()>>20)
}

func (r *run) counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count.clone()
}

func (r *run) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...)+r.of())
}

// of names the world, if there are several.
func (r *run) of() string {
	if r.name == "" {
		return ""
	}
	return ", " + r.name
}

// played is how much virtual time has passed.
func (r *run) played() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clk == nil {
		return 0
	}
	return r.clk.Now().Sub(r.from)
}
