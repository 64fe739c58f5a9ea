package main

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// selection says which scenarios run, how often and in which order.
type selection struct {
	clauses, labels, only []string
	smoke                 bool
	failed, shuffle       string
	shardFlag             shardFlag
	part                  shard.Shard // of them; set by check
	selected              int         // scenarios of all shards, repetitions included; set by files
	others                []string    // files that weren't read, because of their names; set by files
	repeat                int
	flags                 *pflag.FlagSet    // nil: what is set wasn't given as flags
	from                  map[string]string // where flags got their values that weren't given as flags
}

func (p *selection) add(c *cobra.Command) {
	p.filters(c)
	s := c.Flags()
	s.StringVar(&p.failed, "failed", "", "only what didn't pass in the run `DIR`, as --failed=DIR (without a value: the newest in runs)")
	s.StringVar(&p.shuffle, "shuffle", "", "run in a random order drawn from a `SEED`, as --shuffle=SEED (without a value: a new one, which is printed)")
	p.shardFlag.add(c, "only part `i/n` of the files: every n-th, from the i-th on (default: DOORLAB_SHARD_INDEX and DOORLAB_SHARDS, otherwise all files)")
	s.IntVar(&p.repeat, "repeat", 1, "run every scenario this many times, at most 100,000")
	s.Lookup("failed").NoOptDefVal, s.Lookup("shuffle").NoOptDefVal = "newest", "new"
}

// filters are the flags that check and check list share.
func (p *selection) filters(c *cobra.Command) {
	s := c.Flags()
	p.flags = s
	s.StringSliceVar(&p.clauses, "clause", nil, "only scenarios that exercise the guarantee `ID` (repeatable)")
	s.StringSliceVar(&p.labels, "label", nil, "only scenarios with this label (repeatable)")
	s.StringSliceVar(&p.only, "only", nil, "only scenarios whose file name matches this `pattern`, such as outage_* (repeatable)")
	s.BoolVar(&p.smoke, "smoke", false, "only the quick subset; same as --label smoke")
}

func (p *selection) check() error {
	if err := cmp.Or(filled(p.flags, "clause", p.clauses), filled(p.flags, "label", p.labels), filled(p.flags, "only", p.only)); err != nil {
		return err
	}
	if p.smoke {
		p.labels = append(p.labels, "smoke")
	}
	if err := cmp.Or(guarantees("clause", p.clauses, judge.Clauses()), between("repeat", p.repeat, 1, 100_000)); err != nil {
		return err
	}
	if p.shuffle != "" && p.shuffle != "new" {
		if _, err := strconv.ParseUint(p.shuffle, 10, 64); err != nil {
			return usagef("--shuffle %q: the seed must be a whole number, 0 or more", p.shuffle)
		}
	}
	for _, o := range p.only {
		if _, err := path.Match(o, ""); err != nil {
			return usagef("--only %q: not a valid pattern", o)
		}
	}
	return nil
}

// labelHint suggests a label that some file has, for one that none has.
func (p *selection) labelHint(files []*engine.File) string {
	var known []string
	for _, f := range files {
		known = append(known, f.Doc.Labels...)
	}
	for _, l := range p.labels {
		if !slices.Contains(known, l) {
			return near.Hint(l, known)
		}
	}
	return ""
}

// asked are the flags that choose among the files, as they were given.
func (p *selection) asked() string {
	var out []string
	for _, f := range []struct {
		flag   string
		values []string
	}{{"clause", p.clauses}, {"label", p.labels}, {"only", p.only}} {
		for _, v := range f.values {
			out = append(out, "--"+f.flag+" "+v)
		}
	}
	if p.failed != "" {
		out = append(out, "--failed")
	}
	return strings.Join(out, " ")
}

// guarantees checks the ids that a flag names, and spells them as the ledger does.
func guarantees(flag string, ids, known []string) error {
	for i, id := range ids {
		at := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, id) })
		if at < 0 {
			return usagef("--%s %q: no such guarantee%s", flag, id, near.Hint(strings.ToUpper(id), known))
		}
		ids[i] = known[at]
	}
	return nil
}

// files reads the files that are named, or the built-in suite, and selects.
func (p *selection) files(args []string) ([]*engine.File, error) {
	if err := p.detached(args); err != nil {
		return nil, err
	}
	var failed []string
	files, err := scenarioFiles(args, p.named)
	if err == nil && p.failed != "" {
		if failed, err = failedIn(p.failed); err == nil && len(args) == 0 {
			files, err = p.withOwn(files, failed)
		}
	}
	if err != nil {
		return nil, err
	}
	kept := p.keep(files, failed)
	if err := p.vain(files, kept); err != nil {
		return nil, err
	}
	p.selected = len(kept) * p.repeat
	var out []*engine.File
	for k, f := range kept {
		if p.part.Takes(k) {
			out = append(out, f)
		}
	}
	if len(out) == 0 && len(kept) > 0 {
		return nil, usagef("shard %s is empty: %s to divide, and a shard needs at least one", p.part, amount.Many(len(kept), "scenario"))
	}
	if len(out) == 0 {
		return nil, usagef("none of %s matches %s%s ('doorlab check list' lists them with their clauses and labels)", amount.Many(len(files)+len(p.others), "scenario"), p.asked(), p.labelHint(files))
	}
	return p.order(out), nil
}

// vain finds a name, given as a flag, that selects nothing beside others that do: a misspelt one would go unnoticed. A
// variable may be meant for several commands.
func (p *selection) vain(files, kept []*engine.File) error {
	if len(kept) == 0 {
		return nil // which is said anyway
	}
	var known []string
	for _, f := range files {
		known = append(known, f.Doc.Labels...)
	}
	for _, l := range p.labels {
		if p.from["label"] == "" && !(p.smoke && l == "smoke") && !slices.Contains(known, l) {
			return usagef("--label %q: none of %s has this label%s", l, amount.Many(len(files), "scenario"), near.Hint(l, known))
		}
	}
	for _, o := range p.only {
		if p.from["only"] == "" && !slices.ContainsFunc(files, func(f *engine.File) bool { return matches(o, f.Path) }) {
			return usagef("--only %q: none of %s has such a name%s", o, amount.Many(len(files)+len(p.others), "scenario"),
				near.Hint(o, each.Of(p.others, engine.NameOf)))
		}
	}
	return nil
}

// detached finds the value of a flag that needs no value standing alone: it would count as a file.
func (p *selection) detached(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if p.failed == "newest" && has(args[0], "verdicts.json") {
		return usagef("--failed takes the run after an equals sign: --failed=%s", args[0])
	}
	if _, err := strconv.ParseUint(args[0], 10, 64); p.shuffle == "new" && err == nil {
		return usagef("--shuffle takes the seed after an equals sign: --shuffle=%s", args[0])
	}
	return nil
}

// whole: these arguments select the whole built-in suite, of which a shard is a part.
func (p *selection) whole(args []string) bool {
	return len(args) == 0 && len(p.clauses)+len(p.labels)+len(p.only) == 0 && p.failed == ""
}

// mine is what a shard says of itself; nil without --shard.
func (p *selection) mine(args []string) *report.Shard {
	if p.part.Of == 0 {
		return nil
	}
	return &report.Shard{Index: p.part.Index, Of: p.part.Of, Files: p.selected, Whole: p.whole(args)}
}

// named applies --only to the name of a file.
func (p *selection) named(file string) bool {
	if len(p.only) == 0 || slices.ContainsFunc(p.only, func(o string) bool { return matches(o, file) }) {
		return true
	}
	p.others = append(p.others, file)
	return false
}

// matches: a pattern fits a file's name, with or without its ending.
func matches(pattern, file string) bool {
	pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, ".yaml"), ".yml")
	ok, _ := path.Match(pattern, engine.NameOf(file))
	return ok || pattern == engine.NameOf(file) || pattern == engine.TwinOf(file)
}

// withOwn adds to the built-in suite the files of a run that are not part of it.
func (p *selection) withOwn(suite []*engine.File, paths []string) ([]*engine.File, error) {
	own := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(suite, func(f *engine.File) bool { return f.Path == path })
	})
	if len(own) == 0 {
		return suite, nil
	}
	more, err := scenarioFiles(own, p.named)
	return append(suite, more...), err
}

// keep applies the filters but --only; failed are the paths that --failed selects.
func (p *selection) keep(files []*engine.File, failed []string) (out []*engine.File) {
	for _, f := range files {
		fits := func(wanted []string, has func(string) bool) bool {
			return len(wanted) == 0 || slices.ContainsFunc(wanted, has)
		}
		shows := f.Clauses()
		if fits(p.clauses, func(c string) bool { return slices.Contains(shows, c) }) &&
			fits(p.labels, func(l string) bool { return slices.Contains(f.Doc.Labels, l) }) &&
			(p.failed == "" || slices.Contains(failed, f.Path)) {
			out = append(out, f)
		}
	}
	return out
}

// changed is when a file was last written; the zero time when it can't be read.
func changed(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// failedIn lists the files that didn't pass in a run directory.
func failedIn(dir string) (paths []string, err error) {
	if dir == "newest" {
		if dir = newest("runs"); dir == "" {
			return nil, usagef("--failed: the directory runs/ has no run of check; name a run directory with --failed=DIR")
		}
	}
	res, err := verdictsIn("failed", dir)
	if err != nil {
		return nil, err
	}
	paths = each.Of(each.If(res.Files, func(f report.FileResult) bool { return f.Status != judge.Pass }), func(f report.FileResult) string { return f.Path })
	if len(paths) == 0 {
		return nil, usagef("--failed: everything passed in %s", dir)
	}
	return paths, nil
}

// newest is the run directory in a folder that check wrote last; "" if there is none. The runs of age have no scenario that
// could be run again.
func newest(runs string) string {
	found, _ := filepath.Glob(filepath.Join(runs, "*", "verdicts.json")) // fails for a bad pattern only
	slices.SortFunc(found, func(a, b string) int { return changed(b).Compare(changed(a)) })
	for _, file := range found {
		dir := filepath.Dir(file)
		res, err := verdictsIn("failed", dir)
		if err == nil && slices.ContainsFunc(res.Files, func(f report.FileResult) bool { return slices.Contains(scenarioEndings, filepath.Ext(f.Path)) }) {
			return dir
		}
	}
	return ""
}

// scenarioEndings are those of scenario files.
var scenarioEndings = []string{".yaml", ".yml"}

func verdictsIn(flag, dir string) (res report.Result, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	if err != nil {
		return res, usagef("--%s: %s is not a run directory: %s", flag, dir, reason(err))
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return res, usagef("--%s: %s: %s", flag, dir, err)
	}
	return res, nil
}

// order repeats and shuffles. The seed of a new shuffle replaces "new".
func (p *selection) order(files []*engine.File) (out []*engine.File) {
	for n := range p.repeat {
		for _, f := range files {
			if p.repeat > 1 {
				f = f.Again(n+1, p.repeat)
			}
			out = append(out, f)
		}
	}
	if p.shuffle == "new" {
		p.shuffle = strconv.FormatInt(clock.WallNow().UnixNano()%1_000_000, 10)
	}
	if seed, err := strconv.ParseUint(p.shuffle, 10, 64); err == nil {
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}
