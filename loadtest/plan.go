package loadtest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/world"
)

// Plan says what to send; YAML, decoded strictly.
type Plan struct {
	Name        string `yaml:"name,omitempty" json:"name" jsonschema:"description=what reports call the plan; default load"`
	Description string `yaml:"description,omitempty" json:"description,omitempty" jsonschema:"description=what the plan is for, in a sentence"`

	// Pace.
	Pacer     string   `yaml:"pacer,omitempty" json:"pacer,omitempty" jsonschema:"enum=constant,enum=ramp,enum=stages,enum=sine,enum=search,description=how the rate moves; default constant"`
	Rate      Rate     `yaml:"rate,omitempty" json:"rate,omitempty" jsonschema:"description=requests per second, like 300, 300/s or 600/m: of a constant run, the first of a ramp, the mean of a sine, the first step of a search"`
	To        Rate     `yaml:"to,omitempty" json:"to,omitempty" jsonschema:"description=the last rate of a ramp, the highest of a search"`
	Duration  Duration `yaml:"duration,omitempty" json:"duration,omitempty" jsonschema:"description=of the run, like 20s or 1m30s; for a search, of each step"`
	Stages    []Stage  `yaml:"stages,omitempty" json:"stages,omitempty" jsonschema:"description=the stages of a run with the pacer stages, one after the other"`
	Amplitude Rate     `yaml:"amplitude,omitempty" json:"amplitude,omitempty" jsonschema:"description=how far a sine goes above and below its rate"`
	Period    Duration `yaml:"period,omitempty" json:"period,omitempty" jsonschema:"description=of a sine"`
	Precision Share    `yaml:"precision,omitempty" json:"precision,omitempty" jsonschema:"description=how exactly a search finds the rate; default 5%"`

	// What is sent where.
	Commands    Mix      `yaml:"commands,omitempty" json:"commands" jsonschema:"description=the share of each command, 100% together; default open only"`
	Requests    Requests `yaml:"requests,omitempty" json:"requests,omitzero" jsonschema:"description=the share of each kind of request, 100% together; default door commands only"`
	HoldMinutes int      `yaml:"holdMinutes,omitempty" json:"holdMinutes,omitempty" jsonschema:"description=how many minutes a hold lasts: 1 (the default) to 1440"`
	Reason      string   `yaml:"reason,omitempty" json:"reason,omitempty" jsonschema:"description=args.reason of every command; default load and the plan's name"`
	Legacy      Share    `yaml:"legacy,omitempty" json:"legacy,omitempty" jsonschema:"description=the share that goes over the older door paths; default none"`
	Places      string   `yaml:"places,omitempty" json:"places,omitempty" jsonschema:"enum=live,enum=test,enum=all,description=whose doors are commanded; default live, or test if no place is live"`
	Doors       string   `yaml:"doors,omitempty" json:"doors,omitempty" jsonschema:"enum=even,enum=zipf,enum=one,description=which of their doors: all alike (the default), a few far more than the others, or a single one"`
	Skew        float64  `yaml:"skew,omitempty" json:"skew,omitempty" jsonschema:"description=the exponent of zipf, above 1; default 1.2"`

	// Repeats: requests that equal an earlier one, key included.
	RepeatedKeys   Share    `yaml:"repeatedKeys,omitempty" json:"repeatedKeys,omitempty" jsonschema:"description=the share of requests that repeat an earlier one with its Idempotency-Key; default none"`
	RepeatedAtOnce *Share   `yaml:"repeatedAtOnce,omitempty" json:"repeatedAtOnce,omitempty" jsonschema:"description=the share of repeats that follow their original at once; default 50%"`
	RepeatAfter    Duration `yaml:"repeatAfter,omitempty" json:"repeatAfter,omitempty" jsonschema:"description=how much later the other repeats come, at least; default 2s"`

	Faults []PlannedFault `yaml:"faults,omitempty" json:"faults,omitempty" jsonschema:"description=what goes wrong meanwhile; a fault that never acts makes the run INVALID"`

	// Fleet is what a load without a target starts.
	Fleet *Fleet `yaml:"fleet,omitempty" json:"fleet,omitempty" jsonschema:"description=the boards of the load's own testbed; with --target or --world it isn't used"`

	Timeout    Duration          `yaml:"timeout,omitempty" json:"timeout,omitempty" jsonschema:"description=how long to wait for an answer; default 20s, above the server's own wait"`
	MaxLag     Duration          `yaml:"maxLag,omitempty" json:"maxLag,omitempty" jsonschema:"description=the run is invalid if the generator's own lag (p99) is longer; default 100ms"`
	Seed       int64             `yaml:"seed,omitempty" json:"seed,omitempty" jsonschema:"description=seed of everything that is drawn; the same seed sends the same requests"`
	Thresholds map[string]string `yaml:"thresholds,omitempty" json:"thresholds,omitempty" jsonschema:"description=what must hold, such as p99_reported: 500ms, errors: 0 or rate_min: 290/s; see docs/load-testing.md"`
	Abort      bool              `yaml:"abort,omitempty" json:"abort,omitempty" jsonschema:"description=true: stop as soon as an upper limit is broken (times and shares are looked at after five seconds); default false"`
}

// Fleet is how many simulated boards there are, and how soon they report.
type Fleet struct {
	Boards int     `yaml:"boards,omitempty" json:"boards,omitempty" jsonschema:"description=how many; default as --boards says"`
	Report *Report `yaml:"report,omitempty" json:"report,omitempty" jsonschema:"description=how long a board takes to report a command; default 80ms and 400ms, so that most of a latency is the board's"`
}

// Report is a log-normal distribution.
type Report struct {
	P50 Duration `yaml:"p50" json:"p50" jsonschema:"description=the median, like 1ms"`
	P99 Duration `yaml:"p99" json:"p99" jsonschema:"description=99 of 100 are sooner"`
}

// Stage is one leg of a staged run.
type Stage struct {
	Name     string   `yaml:"name,omitempty" json:"name,omitempty" jsonschema:"description=what reports call it, such as warm-up or spike"`
	Rate     Rate     `yaml:"rate" json:"rate" jsonschema:"description=requests per second; 0 is a pause"`
	To       *Rate    `yaml:"to,omitempty" json:"to,omitempty" jsonschema:"description=the rate at the end of a slope; default the same rate"`
	Duration Duration `yaml:"duration" json:"duration" jsonschema:"description=of this stage"`

	Thresholds map[string]string `yaml:"thresholds,omitempty" json:"thresholds,omitempty" jsonschema:"description=what must hold for the requests that are due in this stage"`
}

// Mix is the share of each command.
type Mix struct {
	Open  Share `yaml:"open,omitempty" json:"open,omitempty" jsonschema:"description=share of open, like 80% or 0.8"`
	Hold  Share `yaml:"hold,omitempty" json:"hold,omitempty" jsonschema:"description=share of hold"`
	Close Share `yaml:"close,omitempty" json:"close,omitempty" jsonschema:"description=share of close"`
}

// Problem is one mistake in a plan; Path is a YAML path ("$.stages[1].rate").
type Problem struct{ Path, Message string }

// key is the path as strictyaml writes it.
func (p Problem) key() string { return strings.TrimPrefix(p.Path, "$.") }

// sentence is the message, beginning with the key if it has no other subject: "skew must be above 1".
func (p Problem) sentence() string {
	if first, _, _ := strings.Cut(p.Message, " "); first == "must" || first == "has" {
		return p.Path[strings.LastIndex(p.Path, ".")+1:] + " " + p.Message
	}
	return p.Message
}

var (
	pacers      = []string{"constant", "ramp", "stages", "sine", "search"}
	doorSpreads = []string{"even", "zipf", "one"}
	placeKinds  = []string{"live", "test", "all"}
)

// answerWait is how long a request waits for its answer by default, longer than the server's own wait.
const answerWait = 20 * time.Second

// withDefaults fills what was left out.
func (p Plan) withDefaults() Plan {
	def(&p.Pacer, "constant")
	def(&p.Places, "live")
	def(&p.Doors, "even")
	def(&p.Skew, 1.2)
	def(&p.HoldMinutes, 1)
	def(&p.Precision, 0.05)
	def(&p.RepeatAfter, Duration(2*time.Second))
	def(&p.Timeout, Duration(answerWait))
	def(&p.MaxLag, Duration(100*time.Millisecond))
	def(&p.Commands, Mix{Open: 1})
	def(&p.Name, "load")
	def(&p.Reason, "load "+p.Name)
	def(&p.RepeatedAtOnce, new(Share(0.5)))
	return p
}

func def[T comparable](v *T, d T) { *v = cmp.Or(*v, d) }

// Problems checks a plan that isn't from a file: what is zero was left out, except that a ramp may end at 0.
func (p Plan) Problems() []Problem { return p.ProblemsIn(p.has) }

// ProblemsIn checks a plan as it was written. given reports whether it has a key, such as timeout or stages[1].rate: one
// that would be ignored, or whose 0 would become the default, is a mistake. Who knows positions finds them by Path.
func (p Plan) ProblemsIn(given func(key string) bool) []Problem {
	c := &check{given: given, problems: p.values(given)}
	p = p.withDefaults()
	c.pace(p)
	c.idle(p)
	return c.problems
}

// values checks each value by itself. What one key makes of another is left to ProblemsIn.
func (p Plan) values(given func(key string) bool) []Problem {
	c := &check{given: given}
	c.zeros(p)
	p = p.withDefaults()
	c.oneOf("$.pacer", p.Pacer, pacers)
	c.oneOf("$.doors", p.Doors, doorSpreads)
	c.oneOf("$.places", p.Places, placeKinds)
	sum := p.Commands.Open + p.Commands.Hold + p.Commands.Close
	c.want(math.Abs(float64(sum)-1) < 1e-6, "$.commands", "the shares add up to %s, but must add up to 100%%", sum)
	if p.Requests != (Requests{}) {
		c.requests(p.Requests)
	}
	c.want(p.HoldMinutes >= 1 && p.HoldMinutes <= 1440, "$.holdMinutes", "must be 1 to 1440")
	c.want(len([]rune(p.Reason)) <= 200, "$.reason", "has more than 200 characters")
	c.want(p.Skew > 1, "$.skew", "must be above 1")
	c.want(p.RepeatedKeys < 1, "$.repeatedKeys", "must be below 100%%: some requests must be originals")
	c.thresholds("$", p.Thresholds)
	called := map[string]bool{}
	for i, s := range p.Stages {
		at := fmt.Sprintf("$.stages[%d]", i)
		c.thresholds(at, s.Thresholds)
		c.want(!called[s.Called(i)], at+".name", "two stages are called %q; give each a name of its own, because results are listed by it", s.Called(i))
		called[s.Called(i)] = true
	}
	c.fleet(p.Fleet)
	c.faults(p)
	return c.problems
}

// Err is nil for a valid plan.
func (p Plan) Err() error {
	if lines := each.Of(p.Problems(), func(b Problem) string { return b.Path + ": " + b.Message }); len(lines) > 0 {
		return &PlanError{Lines: lines}
	}
	return nil
}

type check struct {
	problems []Problem
	given    func(key string) bool
}

func (c *check) fleet(f *Fleet) {
	if f == nil {
		return
	}
	c.want((f.Boards > 0 || !c.given("fleet.boards")) && f.Boards >= 0 && f.Boards <= world.MaxBoards, "$.fleet.boards", "must be 1 to %d", world.MaxBoards)
	if r := f.Report; r != nil {
		c.want(r.P50 > 0, "$.fleet.report.p50", "must be longer than 0")
		c.want(r.P99 >= r.P50, "$.fleet.report.p99", "must not be shorter than p50")
	}
}

func (c *check) want(ok bool, path, format string, args ...any) {
	if !ok {
		c.problems = append(c.problems, Problem{path, fmt.Sprintf(format, args...)})
	}
}

func (c *check) oneOf(path, v string, valid []string) {
	c.want(slices.Contains(valid, v), path, "%q is not one of %s%s", v, strings.Join(valid, ", "), near.Hint(v, valid))
}

func (c *check) thresholds(of string, all map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, err := parseThreshold(name, all[name]); err != nil {
			c.want(false, of+".thresholds."+name, "%v", err)
		}
	}
}
