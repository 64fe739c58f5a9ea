package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/doorlab/doorlab/internal/vocab"
)

func (c *Command) title() string {
	what := cmp.Or(c.Command.raw, "open")
	return what + " " + c.Door.raw
}

// run moves a door, once or several times, with the same key unless apart.
func (c *Command) run(x *frame) (fields, error) {
	q := c.request(x)
	answers := need(c.send(x, q, c.Apart))
	out := summary(answers)
	for _, a := range answers {
		if err := c.judge(x, a); err != nil {
			return out, err
		}
	}
	return out, nil
}

// request builds the command for the current or the legacy path.
func (c *Command) request(x *frame) request {
	door := x.door(c.Door)
	b := x.run.dir.door(door)
	if b == nil {
		panic(stop{x.run.dir.noDoor(door)})
	}
	command := cmp.Or(need(c.Command.str(x.scope)), "open")
	args := map[string]any{}
	if c.Minutes != nil {
		args["minutes"] = need(c.Minutes.num(x.scope))
	}
	if c.Reason != nil {
		args["reason"] = need(c.Reason.str(x.scope))
	}
	q := request{method: "POST", placeID: b.placeID, keyName: uuid.NewString()}
	if c.Key.set() {
		q.keyName = x.run.id + "-" + x.file.uid("key/"+need(c.Key.str(x.scope)))
	}
	q.apiKey = x.apiKey(c.APIKey, b.placeID)
	q.placeID = cmp.Or(x.placeOfKey(c.APIKey), q.placeID) // another place's key: its attempts are that place's
	if c.Legacy {
		q.path = "/device/v1/doors/" + esc(door) + "/" + strings.TrimPrefix(command, "door.")
		if len(args) > 0 {
			q.body, _ = json.Marshal(args)
		}
		return q
	}
	q.path = "/device/v1/devices/" + esc(door) + "/commands"
	body := map[string]any{"capability": "door", "command": command}
	if len(args) > 0 {
		body["args"] = args
	}
	q.body = need(json.Marshal(body))
	return q
}

// returning says why a board may be offline although nothing keeps it so: after a fault was cleared, it takes a moment to
// reconnect. "" if a fault of the file is still armed, or none was.
func (x *frame) returning() string {
	x.file.mu.Lock()
	defer x.file.mu.Unlock()
	if len(x.file.faults) > 0 || len(x.file.cleared) == 0 {
		return ""
	}
	return "; no fault keeps it offline any more (synced waits until a board is back)"
}

// judge checks one answer.
func (c *Command) judge(x *frame, a *answer) error {
	outcome, _, code := outcomeOf(a)
	if err := x.says(a, "outcome", outcome, c.Outcome); err != nil {
		if bad := (*failure)(nil); outcome == vocab.Offline && errors.As(err, &bad) {
			bad.text += x.returning()
		}
		return err
	}
	if err := x.says(a, "deviceCode", code, c.Code); err != nil {
		return err
	}
	return c.check(x, a, c.Outcome.set() || c.Code.set())
}
