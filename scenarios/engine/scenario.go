// Package engine is the scenario language and the engine that plays it. YAML files
// are decoded strictly (every mistake at once, with its position), checked, and run
// step by step against a Target, from outside: over the public API and the control
// API, and over MQTT where a step speaks in a board's place. One file therefore
// runs in one process, against separate processes and against any deployment. What
// the steps did goes into a history, which internal/judge judges at the end.
//
// Files named check_* ask before a run whether a file makes sense, verb_* are what
// steps can do, and evidence_* apply the rules of scenarios/evidence to what a step
// found. The others read files and play them.
package engine

// Doc is a scenario file.
type Doc struct {
	node
	Name        string         `json:"name,omitempty" jsonschema:"description=Short name; the file's name when empty"`
	Description string         `json:"description,omitempty" jsonschema:"description=What the file shows, and why"`
	Clauses     ClauseIDs      `json:"clauses,omitempty" jsonschema:"description=Guarantees that the file as a whole is about"`
	Labels      []string       `json:"labels,omitempty" jsonschema:"description=Words to choose files by (check --label); smoke is the quick subset"`
	Needs       Needs          `json:"needs,omitempty" jsonschema:"description=What the target must offer, otherwise the file is SKIPPED"`
	Vars        map[string]Any `json:"vars,omitempty" jsonschema:"description=Names for values; --var overrides them"`
	Setup       []Step         `json:"setup,omitempty" jsonschema:"description=Preparatory steps; if one fails, the file is BLOCKED"`
	Steps       []Step         `json:"steps" jsonschema:"required,description=The steps, run one after the other"`
}

// Needs says what a target must offer. What the verbs of a file need is added by itself.
type Needs struct {
	Boards   int  `json:"boards,omitempty" jsonschema:"description=At least this many live boards"`
	Doors    int  `json:"doors,omitempty" jsonschema:"description=Only boards whose first so many doors let people in, on any channels"`
	Entry    bool `json:"entry,omitempty" jsonschema:"description=Only boards all of whose doors let people in"`
	Places   int  `json:"places,omitempty" jsonschema:"description=At least this many live places"`
	Control  bool `json:"control,omitempty" jsonschema:"description=A control listener"`
	Virtual  bool `json:"virtual,omitempty" jsonschema:"description=A virtual clock"`
	Live     bool `json:"live,omitempty" jsonschema:"description=A live place"`
	Test     bool `json:"test,omitempty" jsonschema:"description=A test place"`
	Together bool `json:"together,omitempty" jsonschema:"description=Server and simulated boards in one process"`
	Fleet    bool `json:"fleet,omitempty" jsonschema:"description=The file is about a fleet: in a testbed its world has as many boards as check --boards says; other files get few"`
}

// Step is one verb and the common keys.
type Step struct {
	node
	Name       string    `json:"name,omitempty" jsonschema:"description=Shown in reports; made from the verb when empty"`
	Clauses    ClauseIDs `json:"clauses,omitempty" jsonschema:"description=Guarantees that this step is evidence for"`
	Boundary   Text      `json:"boundary,omitempty" jsonschema:"description=The boundary value that this step tests, such as 36h"`
	If         *Expr     `json:"if,omitempty" jsonschema:"description=Skip the step unless this holds"`
	Cases      *Any      `json:"cases,omitempty" jsonschema:"description=A table: the step runs once per row, with the columns as names; a list, or a template that yields one"`
	AtLeast    *Num      `json:"atLeast,omitempty" jsonschema:"description=The fewest rows that cases must have, by default 1; with fewer the step is BLOCKED"`
	Expect     Exprs     `json:"expect,omitempty" jsonschema:"description=What must be true of the verb's result"`
	Require    Exprs     `json:"require,omitempty" jsonschema:"description=What must hold for the run to count, otherwise it is INVALID"`
	Within     *Dur      `json:"within,omitempty" jsonschema:"description=Try again until it holds, for at most this long (wall time)"`
	Eventually bool      `json:"eventually,omitempty" jsonschema:"description=The same as within: 30s"`
	Never      *Dur      `json:"never,omitempty" jsonschema:"description=The expectation must stay false for this long (wall time)"`
	Capture    Captures  `json:"capture,omitempty" jsonschema:"description=Names for parts of the result: name: expression"`
	Background string    `json:"background,omitempty" jsonschema:"description=Carry on at once; a later wait must name it"`
	Continue   bool      `json:"continue,omitempty" jsonschema:"description=A failure here does not stop the file"`

	Verbs

	asserts bool            // what the target does can make it fail
	outer   []string        // the clauses that the groups around it claim
	waits   *Step           // the step in the background that it waits for
	fixed   map[string]bool // names that have the same value whatever the target does, before the step
}

// asked is the step whose answer the expectations are about.
func (s *Step) asked() *Step {
	if s.waits != nil {
		return s.waits
	}
	return s
}

// Captures are names for parts of a result.
type Captures map[string]*Expr
