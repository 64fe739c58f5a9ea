package engine

import (
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Present is decided by the board from what it has synchronized.
type Present struct {
	Person Ref  `json:"person,omitempty" jsonschema:"description=Presents the phone"`
	Link   bool `json:"link,omitempty" jsonschema:"description=Present the person's link instead"`
	Phone  Text `json:"phone,omitempty" jsonschema:"description=Instead of a person"`
	Token  Text `json:"token,omitempty" jsonschema:"description=Instead of a person"`
	Door   Ref  `json:"door" jsonschema:"required,description=A cohort (its first door) or a door id"`
	Result Text `json:"result,omitempty" jsonschema:"enum=opened,enum=denied,description=Expected result"`
	Reason Text `json:"reason,omitempty" jsonschema:"enum=onsite,enum=free_window,enum=no_valid_grant,enum=not_started,enum=expired,enum=revoked,enum=door_out_of_scope,enum=closed_window,enum=link_invalid,enum=outage_limit,description=Expected reason"`
}

// PresentEach presents at each door of a cohort the people who have business there.
type PresentEach struct {
	People  Ref  `json:"people" jsonschema:"required,description=A bulk's people or one person, each at the doors of their own place"`
	Doors   Ref  `json:"doors" jsonschema:"required,description=Cohort or list of doors"`
	PerDoor *Num `json:"perDoor,omitempty" jsonschema:"description=People at each door; default 1"`
	Most    *Num `json:"most,omitempty" jsonschema:"description=At most this many presentations, spread evenly; all by default"`
	Link    bool `json:"link,omitempty" jsonschema:"description=Present links instead of phones"`
	Result  Text `json:"result,omitempty" jsonschema:"enum=opened,enum=denied,description=The result or reason that is expected of every presentation"`
	Reason  Text `json:"reason,omitempty" jsonschema:"enum=onsite,enum=free_window,enum=no_valid_grant,enum=not_started,enum=expired,enum=revoked,enum=door_out_of_scope,enum=closed_window,enum=link_invalid,enum=outage_limit,description=The result or reason that is expected of every presentation"`
}

// Phone calls the number of a place.
type Phone struct {
	Person   Ref   `json:"person,omitempty" jsonschema:"description=Who calls"`
	From     Text  `json:"from,omitempty" jsonschema:"description=The caller's number; by default the person's"`
	Place    Ref   `json:"place,omitempty" jsonschema:"description=Whose number; by default the person's place"`
	To       Text  `json:"to,omitempty" jsonschema:"description=Instead of a place"`
	Result   Text  `json:"result,omitempty" jsonschema:"enum=opened,enum=denied,enum=offline,enum=refused,enum=noResponse,description=Expected result"`
	Reason   Text  `json:"reason,omitempty" jsonschema:"enum=phone,enum=free_window,enum=no_valid_grant,enum=not_started,enum=expired,enum=revoked,enum=door_out_of_scope,enum=closed_window,enum=link_invalid,description=Expected reason"`
	Answered *bool `json:"answered,omitempty" jsonschema:"description=Whether the call is expected to be answered"`

	Over    Text            `json:"over,omitempty" jsonschema:"enum=udp,enum=tcp,description=Call over SIP, by UDP or TCP; by default over the control API"`
	Trunk   string          `json:"trunk,omitempty" jsonschema:"enum=first,enum=second,enum=stranger,description=Over SIP: the address that calls, of the first or second trunk that may, or of a stranger; default first"`
	Headers map[string]Text `json:"headers,omitempty" jsonschema:"description=Over SIP: headers to add or to replace, such as From and Privacy"`
	Times   *Num            `json:"times,omitempty" jsonschema:"description=Over SIP: how often the same INVITE is sent before an answer is waited for; default once"`
	Status  Statuses        `json:"status,omitempty" jsonschema:"description=Over SIP: the expected status"`
	Quiet   bool            `json:"quiet,omitempty" jsonschema:"description=Over SIP: no answer at all is expected"`
}

// Leaf moves a door leaf.
type Leaf struct {
	Door   Ref    `json:"door" jsonschema:"required,description=A cohort (its first door) or a door id"`
	Action string `json:"action" jsonschema:"required,enum=open,enum=close,enum=force,description=What happens to the leaf of the door; force opens it past the lock"`
}

// Boards reads boards.
type Boards struct {
	Of      Ref   `json:"of,omitempty" jsonschema:"description=Cohort, board or list; all live boards by default"`
	All     *Expr `json:"all,omitempty" jsonschema:"description=Must be true for each board: online phase outageAgeSec desiredRevision appliedRevision bufferedRecords droppedRecords boot doors"`
	AtLeast *Num  `json:"atLeast,omitempty" jsonschema:"description=The fewest elements; with fewer the step is BLOCKED; by default 1 if there is all, otherwise 0"`
}

// Synced waits; the step's within bounds it (default 60s).
type Synced struct {
	Of Ref `json:"of,omitempty" jsonschema:"description=Cohort, board or list; all live boards by default"`
}

// Journal reads ground truth.
type Journal struct {
	Of      Ref   `json:"of" jsonschema:"required,description=Cohort, board, door or list"`
	Action  Text  `json:"action,omitempty" jsonschema:"enum=pulse,enum=hold,enum=lock,enum=off,enum=refuse,enum=deny,description=Only lines with this action of the relay"`
	Cause   Text  `json:"cause,omitempty" jsonschema:"enum=command,enum=onsite,enum=free,enum=policy,enum=hold_end,enum=outage,description=Only lines with this cause"`
	Command Text  `json:"command,omitempty" jsonschema:"description=Only this commandId"`
	Since   When  `json:"since,omitempty" jsonschema:"description=Only lines from this moment on"`
	All     *Expr `json:"all,omitempty" jsonschema:"description=Must be true for each line"`
	AtLeast *Num  `json:"atLeast,omitempty" jsonschema:"description=The fewest elements; with fewer the step is BLOCKED; by default 1 if there is all, otherwise 0"`
}

// Cohort chooses boards by seed, the same for the same seed and world.
type Cohort struct {
	Name     Name   `json:"name" jsonschema:"required,description=Name for the boards: .boards .doors .places .count and .board .door .place (the first)"`
	From     Ref    `json:"from,omitempty" jsonschema:"description=Choose from this cohort"`
	Except   Refs   `json:"except,omitempty" jsonschema:"description=Leave out the boards of these cohorts"`
	Kind     string `json:"kind,omitempty" jsonschema:"enum=live,enum=test,enum=any,description=Default live"`
	Real     bool   `json:"real,omitempty" jsonschema:"description=Only real boards in the place of a detached simulated one; without this, no real boards"`
	Places   *Num   `json:"places,omitempty" jsonschema:"description=First choose this many places"`
	PerPlace *Num   `json:"perPlace,omitempty" jsonschema:"description=Then this many boards at each place"`
	Boards   *Num   `json:"boards,omitempty" jsonschema:"description=Then this many boards in total"`
	Share    *Num   `json:"share,omitempty" jsonschema:"description=Or a share of the boards, such as 50%"`
	Part     Text   `json:"part,omitempty" jsonschema:"description=Or the n-th of m equal parts: 1/4"`
	Expect   *Num   `json:"atLeast,omitempty" jsonschema:"description=The fewest boards; with fewer the step is BLOCKED; by default as many as boards says, otherwise 1"`
}

// Fault arms a fault; clear names it.
type Fault struct {
	Fault    FaultName      `json:"fault" jsonschema:"required,description=docs/faults.md lists them"`
	Name     Name           `json:"name,omitempty" jsonschema:"description=Name for the verb clear; by default the name of the fault"`
	Of       Ref            `json:"of,omitempty" jsonschema:"description=Cohort, board or list"`
	Share    *Num           `json:"share,omitempty" jsonschema:"description=Or a share of all boards, which the control API chooses"`
	Doors    *Refs          `json:"doors,omitempty" jsonschema:"description=Only commands of these doors"`
	Commands []string       `json:"commands,omitempty" jsonschema:"enum=open,enum=hold,enum=close,description=Only these commands"`
	Nth      *Num           `json:"nth,omitempty" jsonschema:"description=Only the n-th matching command"`
	For      Dur            `json:"for,omitempty" jsonschema:"description=How long it lasts in the lab's time"`
	Hits     *Num           `json:"hits,omitempty" jsonschema:"description=How often it must act before it is cleared or the file ends, by default once; if it acts less often the file is INVALID"`
	Params   map[string]Any `json:"params,omitempty" jsonschema:"description=The fault's own parameters"`
}

// Clear removes a fault; its hits are the result.
type Clear struct {
	Name Text `json:"name" jsonschema:"required,description=Name of the fault"`
}

func (c *Clear) BindShort(b *strictyaml.Binder, text string, pos Pos) { c.Name.BindText(b, text, pos) }

// Key issues or revokes an API key.
type Key struct {
	Name   Name     `json:"name,omitempty" jsonschema:"description=Name for the key: .keyId .apiKey"`
	Place  Ref      `json:"place,omitempty" jsonschema:"description=Cohort or place id that the key belongs to"`
	Scopes []string `json:"scopes,omitempty" jsonschema:"enum=space:partner,enum=device:door,description=Default both"`
	Sim    bool     `json:"sim,omitempty" jsonschema:"description=A test key that simulates outcomes by its reason (sim:offline and so on)"`
	Revoke Ref      `json:"revoke,omitempty" jsonschema:"description=Revoke this key instead"`
}

// Grant is what memberships and reservations have in common.
type Grant struct {
	Person Name  `json:"person" jsonschema:"required,description=Who gets it; a new name is a new person"`
	Place  Ref   `json:"place,omitempty" jsonschema:"description=A cohort or a place id; the person's place by default"`
	Phone  Text  `json:"phone,omitempty" jsonschema:"description=Phone number of a new person; by default one that nobody has"`
	Doors  *Refs `json:"doors,omitempty" jsonschema:"description=The doors it opens; by default all entry doors of the place"`
	From   When  `json:"from,omitempty" jsonschema:"description=Default now-1h"`
	To     When  `json:"to,omitempty" jsonschema:"description=When it ends; by default never, and for a reservation +72h"`
}

// Membership gives one.
type Membership struct{ Grant }

// Reservation gives one.
type Reservation struct{ Grant }

// PlaceSet changes a place as the operator's console does.
type PlaceSet struct {
	Place Ref            `json:"place" jsonschema:"required,description=A cohort or a place id"`
	Set   map[string]Any `json:"set" jsonschema:"required,description=entryPhone phoneEnabled closures holidays timezone"`
}

// DoorSet changes doors as the operator's console does.
type DoorSet struct {
	Doors Ref            `json:"doors" jsonschema:"required,description=A cohort, a door or a list"`
	Set   map[string]Any `json:"set" jsonschema:"required,description=entry entryPermitMaxHours"`
}

// Control is any request of the control API.
type Control struct {
	Method string `json:"method,omitempty" jsonschema:"enum=GET,enum=POST,enum=PUT,enum=PATCH,enum=DELETE,description=Default: GET, or POST with a body"`
	Path   Text   `json:"path" jsonschema:"required,description=After /lab/v1"`
	Body   *Any   `json:"body,omitempty" jsonschema:"description=JSON body"`
	Board  Ref    `json:"board,omitempty" jsonschema:"description=At the listener that has this board; the server's by default"`
	Answered
}

// Clock moves domain time.
type Clock struct {
	Do      string `json:"do,omitempty" jsonschema:"enum=freeze,enum=run,description=Stop virtual time, or let it run"`
	Advance *Dur   `json:"advance,omitempty" jsonschema:"description=Jump by"`
	To      When   `json:"to,omitempty" jsonschema:"description=Jump to"`
}

func (c *Clock) BindShort(b *strictyaml.Binder, text string, pos Pos) {
	c.Do = text
	if _, err := duration(text); err == nil {
		b.Problem(pos, "%q is not a valid clock, write clock: {advance: %s}", text, text)
	} else if text != "freeze" && text != "run" {
		b.Problem(pos, "%q is not a valid clock%s", text, near.Hints(text, []string{"freeze", "run"}))
	}
}

// Mark names this moment.
type Mark struct {
	Name Name `json:"name" jsonschema:"required,description=Name of this moment, for times such as cut+36h"`
}

func (m *Mark) BindShort(b *strictyaml.Binder, text string, pos Pos) { m.Name.BindText(b, text, pos) }

// Wait waits for a background step.
type Wait struct {
	For string `json:"for" jsonschema:"required,description=The background step to wait for"`
}

func (w *Wait) BindShort(b *strictyaml.Binder, text string, pos Pos) {
	w.For = text
	notes(b).use(use{kind: "background", name: text, pos: pos})
}

// Steps are steps in a step.
type Steps []Step

// VarSet gives names to values.
type VarSet map[string]Any

// Log writes a line.
type Log struct {
	Text Text `json:"text" jsonschema:"required,description=The line to write"`
}

func (l *Log) BindShort(b *strictyaml.Binder, text string, pos Pos) { l.Text.BindText(b, text, pos) }
