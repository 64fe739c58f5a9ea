package report

import (
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// worlds splits a history where another world begins; there is always at least one.
func worlds(events []history.Event) (out [][]history.Event) {
	for {
		next := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.World })
		if next < 0 {
			break
		}
		if next > 0 {
			out = append(out, events[:next])
		}
		events = events[next+1:]
	}
	if len(events) > 0 || len(out) == 0 {
		out = append(out, events)
	}
	return out
}

// worldOf names the world that begins with an event of kind World. "" is the name of no world.
func worldOf(e *history.Event) string { return e.Text + "\n" + e.Op }

// world is the name of the file's own world.
func (f FileResult) world() string { return f.Path + "\n" + f.play() }

// Join makes one result of those of files that each had their own world, in the given order. Every part has been
// settled; into provides what isn't a sum: seed, start, configuration, required clauses.
func Join(into Result, parts []Result) Result {
	parts = slices.Clone(parts)
	for i := range parts {
		p := &parts[i]
		if p.played, p.told = len(p.Events) > 0, judge.Told(p.Events); !p.played {
			continue
		}
		into.Worlds++
		into.Events = append(into.Events, history.Event{Kind: history.World, At: p.Events[0].At, WallNs: p.Events[0].WallNs, Text: p.Files[0].Path, Op: p.Files[0].play()})
		into.Events = append(into.Events, p.Events...)
	}
	return joined(into, parts)
}

// joined adds up files, assertions and verdicts.
func joined(into Result, parts []Result) Result {
	var trouble []string
	into.where = map[string]string{}
	for _, p := range parts {
		for clause, world := range p.where {
			if _, known := into.where[clause]; !known { // the first breach is that of the first part that has one
				into.where[clause] = world
			}
		}
		into.Files = append(into.Files, p.Files...)
		into.Assertions = append(into.Assertions, p.Assertions...)
		into.Scores = addScores(into.Scores, p.Scores)
		for _, note := range p.Notes {
			into.Note("%s", note)
		}
		if p.Trouble != "" {
			trouble = append(trouble, p.Trouble)
			into.Unreached = into.Unreached || p.Unreached
		}
		if p.played {
			into.byWorld = append(into.byWorld, p.byWorld...) // combined once, so that equal wordings meet
		}
		into.told = into.told || p.told
		into.Unordered += p.Unordered
		into.Foreign = both(into.Foreign, p.Foreign)
	}
	into.Trouble = strings.Join(slices.Compact(trouble), "; ")
	if len(into.byWorld) == 0 { // nothing was played
		into.byWorld = append(into.byWorld, judge.Judge(judge.NewView(nil)))
	}
	into.settle(judge.Combine(into.byWorld...))
	return into
}

// both is what others did in two worlds.
func both(a, b judge.Foreign) judge.Foreign {
	return judge.Foreign{Commands: a.Commands + b.Commands, Changes: a.Changes + b.Changes, Presentations: a.Presentations + b.Presentations,
		First: slices.Concat(a.First, b.First)}
}
