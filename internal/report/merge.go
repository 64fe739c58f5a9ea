package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/shard"
)

// Shard says which part of a selection of files a run played.
type Shard struct {
	Index int  `json:"index"` // from 1; 0 = in a merged run: could not be read
	Of    int  `json:"of"`
	Files int  `json:"files"`           // of the whole selection, each as often as it is repeated; see Merge
	Whole bool `json:"whole,omitempty"` // the selection is the whole built-in suite
	// For a merged run: where the shard's own results are, and its own verdict.
	Dir    string       `json:"dir,omitempty"`
	Status judge.Status `json:"status,omitempty"`
	Reason string       `json:"reason,omitempty"`
}

// Merge combines the run directories of shards, wherever they ran, into one result. Each history is judged where it is,
// one after another; what a single run would have to show, they have to show together. A shard that is missing,
// duplicated or unreadable makes the result INVALID, and so does one that was merged before, but it never hides a FAIL.
func Merge(dirs ...string) Result {
	into, wrong, lost := Result{Schema: SchemaVersion}, []string{}, judge.Invalid
	var parts, shards []Result
	for _, dir := range dirs {
		var courses []drawn
		p, err := judgeDir(dir, func(world Result) { courses = append(courses, draw(world)) })
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s can't be read as a run: %s", dir, err))
			into.Shards = append(into.Shards, Shard{Dir: dir})
			if p.Status == judge.Fail {
				lost = judge.Fail
			}
			continue
		}
		whole := p.Shard == nil
		if whole {
			p.Shard = &Shard{Index: 1, Of: 1, Files: len(p.Files)}
		}
		if whole && len(dirs) > 1 {
			wrong = append(wrong, dir+" is a whole run, not a shard: it was made without --shard")
		}
		p.Shard.Dir, p.Shard.Status, p.Shard.Reason = dir, p.Status, p.Reason
		into.drawn = append(into.drawn, courses...)
		if why := p.unfit(); why != "" {
			wrong = append(wrong, dir+" "+why)
		}
		if parts = append(parts, p); !whole || len(dirs) == 1 {
			shards = append(shards, p)
		}
	}
	byIndex := func(a, b Result) int { return cmp.Compare(a.Shard.Index, b.Shard.Index) }
	slices.SortStableFunc(parts, byIndex)
	slices.SortStableFunc(shards, byIndex)
	wrong = append(wrong, unlike(shards)...)
	for i, p := range parts {
		if i == 0 || p.Started.Before(into.Started) {
			into.Started = p.Started
		}
		if i == 0 {
			into.Seed, into.Config, into.Require, into.Whole, into.Version = p.Seed, p.Config, p.Require, p.Shard.Whole, p.Version
		}
		into.Seconds = max(into.Seconds, p.Seconds)
		if p.watched() {
			into.Worlds += max(p.Worlds, 1)
		}
		into.History.Count += p.History.Count
		into.Shards = append(into.Shards, *p.Shard)
	}
	into = joined(into, parts)
	if len(wrong) > 0 && into.Reason == nothingPlayed {
		into.Reason = "" // why nothing was played says more
	}
	for _, w := range wrong {
		into.spoil(lost, w)
		into.Note("%s", w)
	}
	return into
}

// unlike says what keeps the parts, which are in the order of their indexes, from being the shards of one selection.
func unlike(parts []Result) (wrong []string) {
	if len(parts) == 0 {
		return nil
	}
	first, files, seen, paths := parts[0], 0, map[int]string{}, map[string]string{}
	for _, p := range parts {
		s := p.Shard
		if other, twice := seen[s.Index]; twice {
			wrong = append(wrong, fmt.Sprintf("%s and %s are both shard %d of %d", other, s.Dir, s.Index, s.Of))
		}
		seen[s.Index] = s.Dir
		switch {
		case s.Of != first.Shard.Of:
			wrong = append(wrong, fmt.Sprintf("%s is one of %d shards, %s one of %d", first.Shard.Dir, first.Shard.Of, s.Dir, s.Of))
		case s.Files != first.Shard.Files || s.Whole != first.Shard.Whole || !slices.Equal(p.Require, first.Require):
			wrong = append(wrong, fmt.Sprintf("%s and %s are shards of different selections", first.Shard.Dir, s.Dir))
		case p.Seed != first.Seed:
			wrong = append(wrong, fmt.Sprintf("%s has seed %d, %s has seed %d", first.Shard.Dir, first.Seed, s.Dir, p.Seed))
		case p.Version != first.Version:
			wrong = append(wrong, fmt.Sprintf("%s and %s were made by different versions: %s, %s", first.Shard.Dir, s.Dir, cmp.Or(first.Version, "unknown"), cmp.Or(p.Version, "unknown")))
		case p.size() != first.size() || (p.asked("world") == "") != (first.asked("world") == ""):
			wrong = append(wrong, fmt.Sprintf("%s and %s had different worlds: %s, %s", first.Shard.Dir, s.Dir, first.sized(), p.sized()))
		}
		files += len(p.Files)
		for _, f := range p.Files {
			if other, twice := paths[f.Path]; twice && other != s.Dir {
				wrong = append(wrong, fmt.Sprintf("%s was run in both %s and %s", filepath.Base(f.Path), other, s.Dir))
			}
			paths[f.Path] = s.Dir
		}
	}
	missing := shard.Missing(first.Shard.Of, seen)
	switch {
	case missing != "":
		wrong = append(wrong, "shard "+missing+" is missing")
	case len(wrong) == 0 && files != first.Shard.Files:
		wrong = append(wrong, fmt.Sprintf("the shards ran %d of %d scenarios", files, first.Shard.Files))
	}
	return wrong
}

// Told is how many events the result is based on; a run that was read again keeps them on disk.
func (res Result) Told() int {
	if len(res.Events) > 0 {
		return len(res.Events)
	}
	return int(res.History.Count)
}

// asked is a command-line flag as the run directory keeps it, "" for none.
func (res Result) asked(flag string) string {
	flags, _ := res.Config.(map[string]any)
	if v, ok := flags[flag]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// size is the --boards of a run: that of a fleet's world, which may be in other shards.
func (res Result) size() string { return cmp.Or(res.asked("fleet"), res.asked("boards")) }

// sized says how large a run's world is, and which file describes it.
func (res Result) sized() string {
	if file := res.asked("world"); file != "" {
		return "--world " + file
	}
	return "--boards " + res.size()
}

// unfit says why a shard's result doesn't count, whatever the others show. Lacking what only all of them can show
// together is not a reason.
func (res Result) unfit() string {
	switch {
	case res.Unreached && res.Trouble != "":
		return "lost its target: " + res.Trouble
	case res.Unreached:
		return "didn't reach its target: " + res.Reason
	}
	res.Require = nil
	res.settle(res.Verdicts)
	if res.Status == judge.Invalid {
		return "is itself INVALID: " + cmp.Or(res.Reason, "see its report")
	}
	return ""
}
