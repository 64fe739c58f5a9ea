package engine

import "github.com/doorlab/doorlab/loadtest"

// Verbs are what a step can do; a step has exactly one, or none and only expectations.
type Verbs struct {
	// The public API.
	Call    *Call     `json:"call,omitempty" jsonschema:"description=Any request to the public API"`
	Permit  *Permit   `json:"permit,omitempty" jsonschema:"description=Register an entry permit for a person"`
	Revoke  *Revoke   `json:"revoke,omitempty" jsonschema:"description=Revoke a person's permit"`
	Command *Command  `json:"command,omitempty" jsonschema:"description=Open, hold or close a door with an Idempotency-Key"`
	Link    *Link     `json:"link,omitempty" jsonschema:"description=Press the button of an entry link"`
	HangUp  *HangUp   `json:"hang_up,omitempty" jsonschema:"description=Send a command or press a link's button and hang up before the answer"`
	Records *Records  `json:"records,omitempty" jsonschema:"description=Read the entry records of a place"`
	Events  *Events   `json:"events,omitempty" jsonschema:"description=Read the events of a place"`
	Netloss *Netloss  `json:"netloss,omitempty" jsonschema:"description=Set the outage policy of boards"`
	Policy  *Policy   `json:"policy,omitempty" jsonschema:"description=Set or remove a time window of a door"`
	Hours   *Hours    `json:"hours,omitempty" jsonschema:"description=Set opening hours"`
	Bulk    *Bulk     `json:"bulk,omitempty" jsonschema:"description=Register many permits across places and revoke some"`
	Load    *LoadPlan `json:"load,omitempty" jsonschema:"description=Door commands at a planned rate: a load plan"`

	// People and boards.
	Present     *Present     `json:"present,omitempty" jsonschema:"description=Present a phone or a link at a door's reader"`
	PresentEach *PresentEach `json:"present_each,omitempty" jsonschema:"description=Present people at each door of a cohort"`
	Phone       *Phone       `json:"phone,omitempty" jsonschema:"description=Call the number of a place"`
	Leaf        *Leaf        `json:"leaf,omitempty" jsonschema:"description=Move a door leaf"`
	Boards      *Boards      `json:"boards,omitempty" jsonschema:"description=Read boards"`
	Synced      *Synced      `json:"synced,omitempty" jsonschema:"description=Wait until boards are online and have the desired revision"`
	Journal     *Journal     `json:"journal,omitempty" jsonschema:"description=Read ground truth of a board or door"`
	Cohort      *Cohort      `json:"cohort,omitempty" jsonschema:"description=Choose boards by the seed and give them a name"`
	Fault       *Fault       `json:"fault,omitempty" jsonschema:"description=Arm a fault"`
	MQTT        *MQTT        `json:"mqtt,omitempty" jsonschema:"description=Speak MQTT by hand in the place of a simulated board"`
	Tell        *Tell        `json:"tell,omitempty" jsonschema:"description=Send a message to a simulated board as if it came from the server"`
	Crash       *Crash       `json:"crash,omitempty" jsonschema:"description=Kill the server at a step of a command and wait until it has restarted"`
	Disk        *Disk        `json:"disk,omitempty" jsonschema:"description=Let the server's disk be full, stalled or slow, or repair it"`
	Clear       *Clear       `json:"clear,omitempty" jsonschema:"description=Remove a fault by name or all"`

	// The operator.
	Key         *Key         `json:"key,omitempty" jsonschema:"description=Issue or revoke an API key"`
	Membership  *Membership  `json:"membership,omitempty" jsonschema:"description=Give a person a membership"`
	Reservation *Reservation `json:"reservation,omitempty" jsonschema:"description=Give a person a reservation"`
	Place       *PlaceSet    `json:"place,omitempty" jsonschema:"description=Change a place as the operator"`
	Door        *DoorSet     `json:"door,omitempty" jsonschema:"description=Change a door as the operator"`
	Control     *Control     `json:"control,omitempty" jsonschema:"description=Any request to the control API"`

	// Time and order.
	Clock    *Clock  `json:"clock,omitempty" jsonschema:"description=Freeze, run or advance the lab's time"`
	Mark     *Mark   `json:"mark,omitempty" jsonschema:"description=Name this moment of the lab's time"`
	Pause    *Dur    `json:"pause,omitempty" jsonschema:"description=Wait this long (wall time)"`
	Wait     *Wait   `json:"wait,omitempty" jsonschema:"description=Wait for a background step"`
	Parallel *Steps  `json:"parallel,omitempty" jsonschema:"description=Steps at the same time"`
	Group    *Steps  `json:"group,omitempty" jsonschema:"description=Steps one after the other; with cases once per row"`
	Set      *VarSet `json:"set,omitempty" jsonschema:"description=Give names to values"`
	Log      *Log    `json:"log,omitempty" jsonschema:"description=Write a line to the report"`
}

// Answered is what the verbs of the public API can expect besides expect.
type Answered struct {
	Status Statuses `json:"status,omitempty" jsonschema:"description=Expected HTTP status or a list of them; 200 if nothing is expected"`
	Error  Text     `json:"error,omitempty" jsonschema:"description=Expected error code"`
	Match  *Any     `json:"match,omitempty" jsonschema:"description=A part that the body must contain"`
}

// Auth is whose key a request carries.
type Auth struct {
	Place Ref   `json:"place,omitempty" jsonschema:"description=Cohort or id; its key is used"`
	Key   Ref   `json:"key,omitempty" jsonschema:"description=A key of the key verb, instead of the place's"`
	Token *Text `json:"token,omitempty" jsonschema:"description=This bearer token; empty for none"`
}

// Repeat sends one request several times, an Idempotency-Key and all.
type Repeat struct {
	Times    *Num `json:"times,omitempty" jsonschema:"description=Send it this many times, one after the other; at most 1000000"`
	Together *Num `json:"together,omitempty" jsonschema:"description=Send it this many times at once; at most 10000"`
}

// Call is any request of the public API.
type Call struct {
	Auth
	Repeat
	Method  string          `json:"method,omitempty" jsonschema:"enum=GET,enum=POST,enum=PUT,enum=PATCH,enum=DELETE,enum=HEAD,enum=OPTIONS,description=Default: GET, or POST with a body"`
	Path    Text            `json:"path" jsonschema:"required,description=Path and query"`
	Body    *Any            `json:"body,omitempty" jsonschema:"description=JSON body"`
	Raw     *Text           `json:"raw,omitempty" jsonschema:"description=The body, sent as it is"`
	Headers map[string]Text `json:"headers,omitempty" jsonschema:"description=Request headers"`
	Answered
}

// Permit registers; the person is known by its name afterwards.
type Permit struct {
	Person  Name  `json:"person" jsonschema:"required,description=Name by which the person is known from now on"`
	Place   Ref   `json:"place,omitempty" jsonschema:"description=Cohort or id; by default the place where the person already has one"`
	Doors   *Refs `json:"doors,omitempty" jsonschema:"description=Door scope; by default the place's entry doors"`
	From    When  `json:"from,omitempty" jsonschema:"description=Default now-1h"`
	To      When  `json:"to,omitempty" jsonschema:"description=Default +72h"`
	Phone   Text  `json:"phone,omitempty" jsonschema:"description=By default one derived from the name and the seed"`
	Ref     Text  `json:"ref,omitempty" jsonschema:"description=externalRef; by default derived like the phone"`
	KeyName Ref   `json:"key,omitempty" jsonschema:"description=A key of the key verb"`
	Repeat
	Answered
}

// Revoke revokes.
type Revoke struct {
	Person Ref    `json:"person" jsonschema:"required,description=A person, or several: a list or a bulk's people"`
	Reason Text   `json:"reason,omitempty" jsonschema:"description=Kept with the permit, at most 200 characters"`
	By     string `json:"by,omitempty" jsonschema:"enum=ref,enum=id,description=Default ref"`
	Answered
}

// Command moves a door.
type Command struct {
	Door    Ref   `json:"door" jsonschema:"required,description=Cohort (its first door) or id"`
	Command Text  `json:"command,omitempty" jsonschema:"enum=open,enum=hold,enum=close,enum=door.open,enum=door.hold,enum=door.close,description=Default open"`
	Minutes *Num  `json:"minutes,omitempty" jsonschema:"description=For a hold, 1 to 1440; 0, the default, holds until it is ended"`
	Reason  *Text `json:"reason,omitempty" jsonschema:"description=args.reason, at most 200 characters"`
	Key     Text  `json:"key,omitempty" jsonschema:"description=Name of the Idempotency-Key: the same name in a file is the same key; a new key by default"`
	APIKey  Ref   `json:"apiKey,omitempty" jsonschema:"description=A key of the key verb"`
	Legacy  bool  `json:"legacy,omitempty" jsonschema:"description=Over the older door paths"`
	Repeat
	Apart   bool `json:"apart,omitempty" jsonschema:"description=With times or together: a new key each time"`
	Outcome Text `json:"outcome,omitempty" jsonschema:"enum=reported,enum=offline,enum=refused,enum=noResponse,description=Expected outcome of every answer"`
	Code    Text `json:"code,omitempty" jsonschema:"enum=busy,enum=jammed,enum=tamper,enum=low_power,enum=maintenance,enum=expired,enum=unsupported,description=Expected deviceCode of a refusal"`
	Answered
}

// Link presses a link's button, or shows its page.
type Link struct {
	Person Ref  `json:"person,omitempty" jsonschema:"description=Whose permit's link is pressed"`
	Token  Text `json:"token,omitempty" jsonschema:"description=Instead of a person"`
	Door   Ref  `json:"door,omitempty" jsonschema:"description=Without a door, the page is read"`
	Answered
}

// Records are read to the end, then filtered.
type Records struct {
	Place   Ref    `json:"place" jsonschema:"required,description=A cohort or a place id"`
	Door    Ref    `json:"door,omitempty" jsonschema:"description=Only those of this door"`
	Person  Ref    `json:"person,omitempty" jsonschema:"description=Only those with the last digits of this person's phone"`
	Command Text   `json:"command,omitempty" jsonschema:"description=Only this commandId"`
	Method  string `json:"method,omitempty" jsonschema:"enum=api,enum=link,enum=phone,enum=onsite,description=Only those made this way"`
	Since   When   `json:"since,omitempty" jsonschema:"description=Only those that happened then or later"`
	Days    *Num   `json:"days,omitempty" jsonschema:"description=sinceDays, default 30"`
	All     *Expr  `json:"all,omitempty" jsonschema:"description=Must be true for each record"`
	AtLeast *Num   `json:"atLeast,omitempty" jsonschema:"description=The fewest elements; with fewer the step is BLOCKED; by default 1 if there is all, otherwise 0"`
}

// Events are read to the end, then filtered.
type Events struct {
	Place   Ref             `json:"place" jsonschema:"required,description=A cohort or a place id"`
	Query   map[string]Text `json:"query,omitempty" jsonschema:"description=from to result kind doorId permitId"`
	Person  Ref             `json:"person,omitempty" jsonschema:"description=Only those with the last digits of this person's phone"`
	Since   When            `json:"since,omitempty" jsonschema:"description=Only those that happened then or later"`
	All     *Expr           `json:"all,omitempty" jsonschema:"description=Must be true for each event"`
	AtLeast *Num            `json:"atLeast,omitempty" jsonschema:"description=The fewest elements; with fewer the step is BLOCKED; by default 1 if there is all, otherwise 0"`
}

// Netloss sets one outage policy on every board of a cohort.
type Netloss struct {
	Boards   Ref             `json:"boards" jsonschema:"required,description=A cohort, a board or a list"`
	GraceSec Num             `json:"graceSec" jsonschema:"required,description=Seconds without a connection before the channels rest"`
	Channels map[string]Text `json:"channels,omitempty" jsonschema:"description=Channel number, or all, to open close hold off; default all: close"`
	Answered
}

// Policy is a time window of doors.
type Policy struct {
	Doors    Ref    `json:"doors" jsonschema:"required,description=A cohort, a door or a list"`
	Ref      string `json:"ref,omitempty" jsonschema:"enum=always,enum=business_hours,enum=after_hours,enum=custom,description=Default always"`
	Mode     Text   `json:"mode,omitempty" jsonschema:"enum=free,enum=auth,enum=closed,description=free opens to anybody, auth asks for a grant, closed denies guests"`
	Week     *Any   `json:"week,omitempty" jsonschema:"description=Days with their times, for a custom window"`
	StartsAt When   `json:"startsAt,omitempty" jsonschema:"description=When the window begins; at once by default"`
	EndsAt   When   `json:"endsAt,omitempty" jsonschema:"description=When the window ends; never by default"`
	Remove   bool   `json:"remove,omitempty" jsonschema:"description=Remove the window of this ref; all without a ref"`
	Answered
}

// Hours sets opening hours.
type Hours struct {
	Place Ref `json:"place" jsonschema:"required,description=A cohort or a place id"`
	Week  Any `json:"week" jsonschema:"required,description=Days with their opening times, as in PUT hours of the API"`
	Answered
}

// Bulk registers people spread over the places of a cohort.
type Bulk struct {
	Name     Name `json:"name" jsonschema:"required,description=Name for the people: .people .kept .revoked"`
	Over     Ref  `json:"over" jsonschema:"required,description=Cohort whose places get the permits in turn"`
	Register Num  `json:"register" jsonschema:"required,description=How many permits to register; at most 1000000"`
	Revoke   *Num `json:"revoke,omitempty" jsonschema:"description=How many of them are then revoked"`
	From     When `json:"from,omitempty" jsonschema:"description=Default now-1h"`
	To       When `json:"to,omitempty" jsonschema:"description=Default +72h"`
	During   *Dur `json:"during,omitempty" jsonschema:"description=Spread the requests over this long (wall time); by default as fast as possible"`
	Workers  *Num `json:"workers,omitempty" jsonschema:"description=Requests at the same time; default 8"`
}

// LoadPlan is a load plan, see docs/load-testing.md.
type LoadPlan struct {
	node
	BuiltIn string `json:"plan,omitempty" jsonschema:"description=A built-in plan instead of one written here; rate and duration change it"`
	loadtest.Plan
	Stages     []LoadStage `json:"stages,omitempty" jsonschema:"description=the stages of a run with the pacer stages, one after the other"`
	Thresholds Thresholds  `json:"thresholds,omitempty" jsonschema:"description=what must hold, such as p99_reported: 500ms, errors: 0 or rate_min: 290/s; {that: 0, clauses: [...]} is evidence for its own clauses only"`
	Of         Ref         `json:"of,omitempty" jsonschema:"description=Only the doors of this cohort or of these boards; by default all of the places' doors"`
	MinRate    *Num        `json:"minRate,omitempty" jsonschema:"description=Commands per second that the generator must reach; INVALID otherwise"`
	path       string
}

// SetPath implements strictyaml.Pathed.
func (l *LoadPlan) SetPath(path string) { l.path = path }
