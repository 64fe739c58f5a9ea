package loadtest

// Plan says what to send; YAML, decoded strictly.
type Plan struct {
	Name        string `yaml:"name" json:"name"`
	Description string `yaml:"description,omitempty" json:"description,omitempty"`

	Pacer     string   `yaml:"pacer,omitempty" json:"pacer,omitempty" jsonschema:"enum=constant,enum=ramp,enum=stages,enum=sine,enum=search"` // default constant
	Rate      Rate     `yaml:"rate,omitempty" json:"rate,omitempty"`                                                                          // constant; ramp: at the start; sine: the mean; search: the first tried
	To        Rate     `yaml:"to,omitempty" json:"to,omitempty"`                                                                              // ramp: at the end; search: the highest tried
	Duration  Duration `yaml:"duration,omitempty" json:"duration,omitempty"`                                                                  // search: of one step
	Stages    []Stage  `yaml:"stages,omitempty" json:"stages,omitempty"`
	Amplitude Rate     `yaml:"amplitude,omitempty" json:"amplitude,omitempty"` // sine
	Period    Duration `yaml:"period,omitempty" json:"period,omitempty"`       // sine
	Precision Share    `yaml:"precision,omitempty" json:"precision,omitempty"` // search: stops when the bounds are this close, default 5%

	Commands    Mix     `yaml:"commands,omitempty" json:"commands,omitempty"`                                       // default open: 100%
	HoldMinutes int     `yaml:"holdMinutes,omitempty" json:"holdMinutes,omitempty"`                                 // default 1
	Legacy      Share   `yaml:"legacy,omitempty" json:"legacy,omitempty"`                                           // of the commands over the legacy door paths
	Places      string  `yaml:"places,omitempty" json:"places,omitempty" jsonschema:"enum=live,enum=test,enum=all"` // default live, test when there is none
	Doors       string  `yaml:"doors,omitempty" json:"doors,omitempty" jsonschema:"enum=even,enum=zipf,enum=one"`   // default even
	Skew        float64 `yaml:"skew,omitempty" json:"skew,omitempty"`                                               // zipf: its exponent, default 1.2

	RepeatedKeys   Share    `yaml:"repeatedKeys,omitempty" json:"repeatedKeys,omitempty"`     // of the requests, each equal to the one it repeats
	RepeatedAtOnce Share    `yaml:"repeatedAtOnce,omitempty" json:"repeatedAtOnce,omitempty"` // of the repeats, right behind their first; default 50%
	RepeatAfter    Duration `yaml:"repeatAfter,omitempty" json:"repeatAfter,omitempty"`       // the others, at least this much later; default 2s

	Timeout    Duration          `yaml:"timeout,omitempty" json:"timeout,omitempty"` // default 20s: above the server's wait
	MaxLag     Duration          `yaml:"maxLag,omitempty" json:"maxLag,omitempty"`   // p99 of the generator's lag beyond which the run is invalid, default 100ms
	Seed       int64             `yaml:"seed,omitempty" json:"seed,omitempty"`
	Thresholds map[string]string `yaml:"thresholds,omitempty" json:"thresholds,omitempty"`
}

// Stage is one leg of a staged run: from Rate to To (default: flat).
type Stage struct {
	Rate     Rate     `yaml:"rate" json:"rate"`
	To       *Rate    `yaml:"to,omitempty" json:"to,omitempty"`
	Duration Duration `yaml:"duration" json:"duration"`
}

// Mix is the share of each command.
type Mix struct {
	Open  Share `yaml:"open,omitempty" json:"open,omitempty"`
	Hold  Share `yaml:"hold,omitempty" json:"hold,omitempty"`
	Close Share `yaml:"close,omitempty" json:"close,omitempty"`
}

// Load reads a plan: a file, or an embedded plan by name ("door-commands").
// Errors carry file:line:col, all at once.
func Load(path string) (Plan, error) { return Plan{}, nil }

// Parse reads a plan from its text; name is the file in error messages.
func Parse(name string, text []byte) (Plan, error) { return Plan{}, nil }

// Problem is one fault of a plan; Path is the YAML path ("$.rate").
type Problem struct{ Path, Message string }

// Problems checks a plan; a scenario that embeds one finds the positions itself.
func (p Plan) Problems() []Problem { return nil }
