package engine

import (
	"net/http"
	"strings"
)

// Tell sends a message to a simulated board as if it came from the server.
type Tell struct {
	Board   Ref    `json:"board" jsonschema:"required,description=A board; the judge leaves it alone until the file ends"`
	Send    string `json:"send,omitempty" jsonschema:"enum=cmd,enum=sync,enum=cfg,enum=ack,description=Channel of the message; without it, the step only shows the board's state"`
	Payload *Any   `json:"payload,omitempty" jsonschema:"description=The message, as JSON"`
	Raw     *Text  `json:"raw,omitempty" jsonschema:"description=The message, as it is"`
	Alone   *bool  `json:"alone,omitempty" jsonschema:"description=true: from now on the board gets only the messages of these steps, none from its server; false: its server's as well"`
}

func (t *Tell) title() string { return strings.TrimSpace(t.Board.raw + " " + t.Send) }

// run says it. The board's own answers come with the result; they also go to its server.
func (t *Tell) run(x *frame) (out fields, err error) {
	b := x.simulated(t.Board, "it listens to nobody but its server")
	body := map[string]any{}
	if t.Alone != nil {
		body["alone"] = *t.Alone
	}
	if t.Send != "" {
		body["channel"] = t.Send
	}
	switch {
	case t.Payload != nil:
		body["payload"] = need(t.Payload.eval(x.scope))
	case t.Raw != nil:
		body["raw"] = need(t.Raw.str(x.scope))
	}
	err = x.run.lab.ask(x.ctx, b.owner, http.MethodPost, "/boards/"+esc(b.id)+"/tell", body, &out)
	return out, err
}

// tell reports parts that do nothing without others.
func (c *checker) tell(t *Tell, pos Pos) {
	switch {
	case t.Payload != nil && t.Raw != nil:
		c.b.Problem(pos, "a message has one payload: give payload or raw")
	case t.Send == "" && (t.Payload != nil || t.Raw != nil):
		c.b.Problem(pos, "a message needs send, the channel that it is sent to")
	}
}
