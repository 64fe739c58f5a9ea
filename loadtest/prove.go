package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// historyFile is what was judged.
const historyFile = "history.ndjson"

// judgedAtOnce is how many events of a history are judged at once (never splitting a place), about 150 MB. A run of
// 6,000 requests is one part.
const judgedAtOnce = 60_000

// newLog keeps the run's own events for prove, and forwards them.
func (o *Options) newLog() *history.Log {
	log := history.NewLongLog(o.OutDir, func() int64 { return clock.WallNow().UnixNano() })
	if pass := o.History; pass != nil {
		o.History = func(e history.Event) { log.Append(e); pass(e) }
	} else {
		o.History = log.Append
	}
	return log
}

// errCut ends the judging of a run that was interrupted.
var errCut = errors.New("interrupted")

// cutAfter is how long an interrupted run goes on judging: a command should end soon then.
const cutAfter = 3 * time.Second

// proofTime is a context for prove after that many requests. An interruption of the run ends it soon, with errCut as its cause.
func proofTime(run context.Context, sent int64) (context.Context, context.CancelFunc) {
	proving, done := context.WithTimeout(context.WithoutCancel(run), 5*time.Minute+time.Duration(sent)*time.Millisecond)
	proving, cut := context.WithCancelCause(proving)
	stop := context.AfterFunc(run, func() { clock.WallAfter(cutAfter, func() { cut(errCut) }) })
	return proving, func() { stop(); cut(nil); done() }
}

// cutOff is errCut once an interruption has left no more time.
func cutOff(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errCut) {
		return errCut
	}
	return nil
}

// unproven is the result without a ledger.
func (r Result) unproven(why string) Result {
	r.Guarantees = &Guarantees{NotJudged: "not judged: " + why}
	r.Doubts, r.Reasons = slices.Clip(r.Doubts), slices.Clip(r.Reasons)
	r.doubt("the guarantees are not judged: " + why)
	return r
}

// prove judges the run by its history, or says that an interruption left no time for that: a part of a history proves nothing.
func (r *runner) prove(ctx context.Context, t Target, log *history.Log, res *Result) error {
	plain := *res
	err := r.proveAll(ctx, t, log, res)
	if errors.Is(err, errCut) {
		*res, err = plain.unproven(err.Error()), nil
	}
	return err
}

// proveAll judges the run by its history: what the generator saw, and what the target's control listeners have. If a
// history can't be read completely, the run is unproven: it is INVALID. Without a control listener there is no ground
// truth, and only what its clients saw is judged.
func (r *runner) proveAll(ctx context.Context, t Target, log *history.Log, res *Result) (err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // from now on memory matters more than speed
	res.Guarantees = &Guarantees{}
	var basis []string
	if len(t.Control) == 0 {
		basis = append(basis, "what the doors did is not judged, because there is no control listener: only what the clients saw is")
	}
	if n := len(res.Search); n > 0 {
		basis = append(basis, fmt.Sprintf("the guarantees are judged over the whole search, %s", amount.Many(n, "step")))
	}
	res.Guarantees.Basis = strings.Join(basis, "; ")
	if r.meter != nil {
		res.Guarantees.Clocks = r.meter.End(ctx)
	}
	told, err := r.gather(ctx, t, log, res.Guarantees.Clocks)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.division.Close()) }()
	if cut := cutOff(ctx); cut != nil {
		return cut
	}
	if told.unread != nil {
		res.Guarantees.NotJudged = "not judged: " + told.unread.Error()
		res.doubt("the history could not be read: " + told.unread.Error())
		return nil
	}
	keep, err := r.keeper(res.Guarantees)
	if err != nil {
		return err
	}
	spans := newPhases(*res)
	err = told.division.Groups(cmp.Or(r.opts.atOnce, judgedAtOnce), func(lists [][]history.Event) error {
		if cut := cutOff(ctx); cut != nil {
			return cut
		}
		events := told.ordered(lists)
		spans.add(events)
		res.Lab = res.Lab.with(newLab(events, res.Started, res.labSeconds()), 0)
		told.parts.Judge(events)
		return keep.write(events)
	})
	if err = errors.Join(err, keep.close()); err != nil {
		return err
	}
	res.Phases = spans.list()
	res.Guarantees.settle(told.parts.Verdicts())
	res.Guarantees.Foreign, res.Guarantees.Unordered = told.parts.Foreign(), told.parts.Unordered()
	res.judgeGuarantees()
	return nil
}

// told is what all processes contributed to the history of a run, on disk.
type told struct {
	division *history.Division
	parts    judge.Parts
	begun    *history.Event // nil: the target is the run's own
	bases    []int          // lists with what each listener found
	since    []int          // lists with what the run and each listener have told since
	lists    int
	n        int64 // events ordered so far
	unread   error // why a listener's history is incomplete
}

// next starts a list.
func (t *told) next(of *[]int) {
	*of = append(*of, t.lists)
	t.lists++
	t.division.Next()
}

func (t *told) add(e *history.Event) error {
	t.parts.See(e)
	return t.division.Add(*e)
}

// gather reads the events of the run itself and of every listener, and divides them by place. The error is the disk's;
// a history that couldn't be read is noted in the run.
func (r *runner) gather(ctx context.Context, target Target, log *history.Log, clocks history.Clocks) (t *told, err error) {
	t = &told{}
	if target.Marks != nil {
		begun := r.begun
		begun.Kind, t.begun = history.Begun, &begun
		t.parts.See(t.begun)
	}
	if t.division, err = history.NewDivision(r.opts.OutDir); err != nil {
		return nil, err
	}
	for _, d := range r.doors { // what happens at a door is judged at its place, whoever asked
		t.division.Door(d.id, d.place.PlaceID)
	}
	t.next(&t.since)
	failed := log.Each(0, func(e *history.Event) error {
		if cut := cutOff(ctx); cut != nil {
			return cut
		}
		return t.add(e)
	})
	mine := newSieve(r.shard)
	for i, c := range clients(target) {
		t.next(&t.since)
		base, err := c.EachFrom(ctx, target.Marks, i, mine.keeps, func(e *history.Event) {
			clocks.Shift(0, i, e)
			if failed == nil {
				failed = t.add(e)
			}
		})
		if t.unread = err; err != nil {
			break
		}
		t.next(&t.bases)
		for k := range base {
			clocks.Shift(0, i, &base[k])
			if failed == nil {
				failed = t.add(&base[k])
			}
		}
	}
	if failed != nil {
		return nil, errors.Join(failed, t.division.Close())
	}
	return t, nil
}

// ordered merges a group's lists into one order, numbered on from the previous group.
func (t *told) ordered(lists [][]history.Event) []history.Event {
	of := func(which []int) [][]history.Event {
		return each.Of(which, func(i int) []history.Event { return lists[i] })
	}
	var events []history.Event
	if t.begun != nil {
		events = history.Since(*t.begun, of(t.bases), of(t.since))
	} else {
		events = history.Merge(of(t.since)...)
	}
	for i := range events {
		t.n++
		events[i].Seq = t.n
	}
	return events
}

// keeper writes the history into the run directory; without one it is nil, and writes nothing.
type keeper struct {
	file *os.File
	out  *history.Writer
	more bool // a group was written
	into *Guarantees
}

func (r *runner) keeper(g *Guarantees) (*keeper, error) {
	if r.opts.OutDir == "" {
		return nil, nil
	}
	if err := report.WriteClocks(r.opts.OutDir, g.Clocks); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(r.opts.OutDir, historyFile))
	if err != nil {
		return nil, err
	}
	return &keeper{file: f, out: history.NewWriter(f), into: g}, nil
}

func (k *keeper) write(events []history.Event) error {
	if k == nil {
		return nil
	}
	for i := range events {
		if e := &events[i]; k.more && history.Common(e) { // every group has them
			continue
		} else if err := k.out.One(e); err != nil {
			return err
		}
	}
	k.more = true
	return nil
}

func (k *keeper) close() error {
	if k == nil {
		return nil
	}
	sum, err := k.out.Close()
	k.into.History = &sum
	return errors.Join(err, k.file.Close())
}
