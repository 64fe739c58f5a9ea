package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/scenarios/expression"
)

func (b *Boards) run(x *frame) (fields, error) {
	list := x.boardViews(x.boards(b.Of))
	out := fields{"boards": list, "count": len(list)}
	if len(list) > 0 {
		out["first"] = list[0]
	}
	x.res.Detail = amount.Many(len(list), "board")
	return out, x.each(b.All, b.AtLeast, list, "boards")
}

// boardViews are the boards of a cohort as plain values.
func (x *frame) boardViews(of []*boardInfo) []any {
	all, _, err := x.lab().boards(x.ctx)
	want, list := idsOf(need(of, err)), []any{}
	for _, b := range all {
		if want[b.BoardID] {
			var v any
			raw, _ := json.Marshal(b)
			_ = json.Unmarshal(raw, &v)
			list = append(list, v)
		}
	}
	return list
}

func (s *Synced) run(x *frame) (fields, error) {
	of := x.boards(s.Of)
	limit := need(s.limit(x.step, x.scope))
	began := clock.Mono()
	err := x.run.synced(x.ctx, of, limit)
	took := clock.Mono() - began
	x.res.Detail = fmt.Sprintf("%s in %.1fs", amount.Many(len(of), "board"), took.Seconds())
	return fields{"count": len(of), "ms": float64(took.Milliseconds())}, err
}

// limit is how long the step waits.
func (*Synced) limit(s *Step, sc *scope) (time.Duration, error) {
	if s.Within == nil {
		return 60 * time.Second, nil
	}
	return s.Within.dur(sc)
}

// synced waits for boards; nil = all boards of live places. It keeps waiting while the server restarts.
func (r *run) synced(ctx context.Context, of []*boardInfo, limit time.Duration) error {
	began, pause := clock.Mono(), 50*time.Millisecond
	for {
		err := r.inSync(ctx, of, limit)
		if !soft(err) || clock.Mono()-began > limit {
			return err
		}
		if err := client.Pause(ctx, pause); err != nil {
			return err
		}
		pause = min(pause*2, time.Second)
	}
}

// inSync checks once; the failure says how many boards are behind.
func (r *run) inSync(ctx context.Context, of []*boardInfo, limit time.Duration) error {
	want := idsOf(of)
	all, _, err := r.lab.boards(ctx)
	if err != nil {
		return err
	}
	behind, n, example := 0, 0, ""
	for _, b := range all {
		if of != nil && !want[b.BoardID] || of == nil && (b.Detached || b.Told) { // a real board need not be there
			continue
		}
		n++
		delete(want, b.BoardID)
		if !b.Online || b.Phase == "stopped" || b.AppliedRevision != b.DesiredRevision || b.Stale {
			if behind++; example == "" && b.Stale {
				example = b.BoardID + ": the server doesn't say which revision it should have"
			} else if example == "" {
				example = fmt.Sprintf("%s online=%v phase=%s applied=%d desired=%d", b.BoardID, b.Online, b.Phase, b.AppliedRevision, b.DesiredRevision)
			}
		}
	}
	if unseen := keysOf(want); len(unseen) > 0 {
		return fmt.Errorf("no control listener has board %s", unseen[0])
	}
	if behind > 0 {
		return failed("%d of %d boards are not synchronized after %s, for example %s", behind, n, limit, example)
	}
	return nil
}

func (j *Journal) run(x *frame) (fields, error) {
	v := need(j.Of.eval(x.scope))
	of := x.boards(j.Of)
	keep, chosen := j.filter(x), x.chosen(v)
	var mu sync.Mutex
	var lines []any
	sure(atOnce(8, len(of), func(i int) error {
		if of[i].owner == "" {
			return fmt.Errorf("no control listener has board %s", of[i].id)
		}
		got, err := x.run.lab.journal(x.ctx, of[i].owner, of[i].id)
		mu.Lock()
		defer mu.Unlock()
		for _, l := range got {
			if chosen(of[i].id, l["doorId"]) && keep(l) {
				l["boardId"] = of[i].id
				lines = append(lines, l)
			}
		}
		return err
	}))
	sort.SliceStable(lines, func(a, b int) bool { return lineKey(lines[a]) < lineKey(lines[b]) })
	out := listFields("lines", lines)
	return out, x.each(j.All, j.AtLeast, lines, "journal lines")
}

// chosen reports which lines a reference is about: those of a board, or of some of its doors if only they are named.
func (x *frame) chosen(v any) func(board string, door any) bool {
	ids, _ := many(v, "boards")
	whole, doors := map[string]bool{}, map[any]bool{}
	for _, id := range ids {
		if x.run.dir.door(id) != nil {
			doors[id] = true
		} else {
			whole[id] = true
		}
	}
	return func(board string, door any) bool { return whole[board] || doors[door] }
}

func lineKey(l any) string {
	m := l.(journalLine)
	seq, _ := m["seq"].(float64)
	return fmt.Sprintf("%v %012.0f", m["boardId"], seq)
}

// listFields are what reading a list results in.
func listFields(name string, list []any) fields {
	if list == nil {
		list = []any{}
	}
	out := fields{name: list, "count": len(list), "first": nil, "last": nil}
	if len(list) > 0 {
		out["first"], out["last"] = list[0], list[len(list)-1]
	}
	return out
}

func (j *Journal) filter(x *frame) func(journalLine) bool {
	want := map[string]string{}
	for k, t := range map[string]Text{"action": j.Action, "cause": j.Cause, "commandId": j.Command} {
		if t.set() {
			want[k] = need(t.str(x.scope))
		}
	}
	from := x.since(j.Since)
	return func(l journalLine) bool {
		for k, w := range want {
			if expression.Show(l[k]) != w {
				return false
			}
		}
		return notBefore(l["at"], from)
	}
}

// notBefore compares a time from an answer.
func notBefore(at any, from time.Time) bool {
	if from.IsZero() {
		return true
	}
	t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(expression.Show(at)))
	return err != nil || !t.Before(from)
}
