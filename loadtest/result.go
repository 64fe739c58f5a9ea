package loadtest

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Verdicts.
const (
	Pass    = "PASS"
	Fail    = "FAIL"    // a guarantee is broken, or answers violate the OpenAPI documents: exit 4; only a threshold is: exit 99
	Invalid = "INVALID" // the generator, not the system, was the limit: exit 6
	Blocked = "BLOCKED" // a process of the target is gone: exit 5
)

// Result is what a run measured and what the measurement is worth; result.json.
type Result struct {
	Schema  int      `json:"schema"` // SchemaVersion of what wrote it
	Plan    Plan     `json:"plan"`
	Verdict string   `json:"verdict"`
	Reasons []string `json:"reasons,omitempty"` // why it is not PASS
	Doubts  []string `json:"doubts,omitempty"`  // why its figures don't describe the system, also if it is FAIL
	Seed    int64    `json:"seed"`
	Run     string   `json:"run"`               // what makes the run's keys its own
	Version string   `json:"version,omitempty"` // of the program that wrote it
	World   string   `json:"world,omitempty"`   // digest of the doors that a whole run could command
	Shard   *Shard   `json:"shard,omitempty"`   // of a run that is only a part of a load
	Shards  []Shard  `json:"shards,omitempty"`  // of a merged result
	Notes   []string `json:"notes,omitempty"`   // what a reader has to know beside the verdict
	Gone    string   `json:"gone,omitempty"`    // what shows that a process of the target is gone; "" = none is

	Environment *Environment `json:"environment,omitempty"` // nil in results of older versions
	Processes   []Process    `json:"processes,omitempty"`

	Started     time.Time `json:"started"`
	Seconds     float64   `json:"seconds"` // planned, or as long as it took to send all
	Planned     int64     `json:"planned"`
	Sent        int64     `json:"sent"`        // hits, each one planned request
	Attempts    int64     `json:"attempts"`    // HTTP requests: hits and visible second tries after a 401
	Renewed     int64     `json:"renewed"`     // second tries after a 401
	Repeats     int64     `json:"repeats"`     // hits with a key that was sent before
	Replayed    int64     `json:"replayed"`    // answers that said Idempotent-Replayed
	PlannedRate float64   `json:"plannedRate"` // per second
	SentRate    float64   `json:"sentRate"`
	AnsweredBy  float64   `json:"answeredBy,omitempty"` // seconds until 99% of the answers had come

	Validated   int64  `json:"validated"`             // answers held against the target's OpenAPI documents
	Breaches    int64  `json:"breaches"`              // ... that do not fit
	FirstBreach string `json:"firstBreach,omitempty"` // the first of them

	Lag        Latency          `json:"lag"`      // of the generator: sent minus planned
	Outcomes   []Outcome        `json:"outcomes"` // "all" first
	Statuses   map[string]int64 `json:"statuses"`
	Codes      map[string]int64 `json:"codes,omitempty"`
	Errors     map[string]int64 `json:"errors,omitempty"` // requests without an answer, by cause
	Stages     []StageResult    `json:"stages,omitempty"` // of a run with several
	Thresholds []Threshold      `json:"thresholds,omitempty"`
	Phases     []Phase          `json:"phases,omitempty"`     // of commands that were reported, from the histories
	Faults     []FaultUse       `json:"faults,omitempty"`     // the plan's
	Guarantees *Guarantees      `json:"guarantees,omitempty"` // nil: nobody asked
	Series     []Point          `json:"series"`
	Lab        *Lab             `json:"lab,omitempty"`     // nil: the history has no boards
	Samples    []Sample         `json:"samples,omitempty"` // some requests: of each outcome the first and the slowest
	Search     []Step           `json:"search,omitempty"`
	Highest    float64          `json:"highest,omitempty"` // search: the highest rate that met the thresholds
	Compare    *Comparison      `json:"compare,omitempty"`
	Digest     string           `json:"digest,omitempty"` // in result.json: of everything else there, see report.Digest

	over  time.Time     // when the last answer was there; zero for a result that was read
	dir   string        // of a part of a merged result
	apart time.Duration // of a merged result: how far apart the generators started
	lost  int           // of a merged result: exit code of a part that is FAIL and couldn't be merged; 0 = none
}

// Outcome is one of reported, offline, refused, noResponse, rejected (any other
// answer), error (no answer), or all.
type Outcome struct {
	Name      vocab.Outcome `json:"name"`
	Count     int64         `json:"count"`
	Service   Latency       `json:"service"`   // from the request sent
	Scheduled Latency       `json:"scheduled"` // from the moment it was planned for
}

// Latency is a distribution in milliseconds; HDR is its whole histogram
// (HdrHistogram V2, compressed, base64, microseconds), so runs can be merged.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	HDR  string  `json:"hdr,omitempty"`
}

// Threshold is one judged limit.
type Threshold struct {
	Idle  bool   `json:"-"` // no answers could have broken it
	Name  string `json:"name"`
	Limit string `json:"limit"`
	Value string `json:"value"`
	OK    bool   `json:"ok"`
	// NotJudged is why a limit counts neither as met nor as broken: the figures don't describe the system. Only in result.json.
	NotJudged string `json:"notJudged,omitempty"`
}

// Point is one second of the run, by planned time.
type Point struct {
	Second   int                     `json:"second"`
	Planned  int64                   `json:"planned"`
	Sent     int64                   `json:"sent"` // in this second
	P50      float64                 `json:"p50"`  // since scheduled, milliseconds
	P99      float64                 `json:"p99"`
	Max      float64                 `json:"max"`
	Lag      float64                 `json:"lag"` // the worst
	Outcomes map[vocab.Outcome]int64 `json:"outcomes"`
}

// Step is one rate tried by a search.
type Step struct {
	Rate    float64  `json:"rate"`
	Verdict string   `json:"verdict"`
	P50     float64  `json:"p50"`
	P99     float64  `json:"p99"`
	Reasons []string `json:"reasons,omitempty"`

	Outcomes map[vocab.Outcome]int64 `json:"outcomes,omitempty"`
}

// Comparison is a run beside an earlier one.
type Comparison struct {
	Baseline string   `json:"baseline"`
	Unlike   []string `json:"unlike,omitempty"` // why the runs can't be compared: what differs in what was sent, or on what
	Changes  []Change `json:"changes"`
}

// Change is one measure in both runs; Noise is how much it may differ by chance.
type Change struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit,omitempty"` // ms or /s; none for counts
	Before  float64 `json:"before"`
	Now     float64 `json:"now"`
	Noise   float64 `json:"noise"`
	Verdict string  `json:"verdict"` // same, better, worse, not comparable
}

// ExitCode is the command line's: 0, 4 a guarantee is broken or answers violate the OpenAPI documents, 5 the target is gone, 99
// only a threshold is broken, 6 invalid.
func (r Result) ExitCode() int {
	broken := r.lost == 99 || slices.ContainsFunc(r.Thresholds, func(t Threshold) bool { return !t.OK })
	switch {
	case len(r.Guarantees.breached()) > 0 || r.Breaches > 0 || r.lost == 4:
		return 4
	case r.Verdict == Blocked:
		return 5
	case r.Verdict == Fail && broken:
		return 99
	case r.Verdict == Fail: // for a reason that only another version knows: it may be a guarantee
		return 4
	case r.Verdict == Invalid:
		return 6
	}
	return 0
}
