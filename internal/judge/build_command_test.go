package judge

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

func meaningOf(door, op string, minutes int) string {
	return fmt.Sprintf("%s %s %d %q", door, op, minutes, "")
}

// command is a command under a key with an outcome, followed by repeats.
func (h *builder) command(id, key, op string, outcome vocab.Outcome, acted bool, repeats int) string {
	b := h.boards[id]
	door, cmd, hash := doorOf(id, 1), h.id("cmd"), history.KeyHash(b.place, key)
	base := history.Event{PlaceID: b.place, DoorID: door, Key: hash, Meaning: meaningOf(door, op, h.minutes), Method: "POST", Route: "/commands"}
	ask := func() string {
		e := base
		e.Kind, e.Request = history.Attempt, h.id("req")
		h.emit(e)
		return e.Request
	}
	answer := func(req string, replayed bool) {
		e := base
		e.Kind, e.Request, e.Status, e.Outcome, e.CommandID, e.BodyHash, e.Replayed = history.Answer, req, statusOf[outcome], outcome, cmd, "body of "+cmd, replayed
		h.emit(e)
	}
	req := ask()
	h.emit(history.Event{Kind: history.Intent, PlaceID: b.place, DoorID: door, CommandID: cmd, Key: hash, Op: op, Method: "api"})
	if outcome != vocab.Offline {
		h.emit(history.Event{Kind: history.Publish, PlaceID: b.place, BoardID: id, DoorID: door, CommandID: cmd, Key: hash, Epoch: b.epoch, NotAfterMs: 5000, Op: op})
		if outcome == vocab.NoResponse {
			h.emit(history.Event{Kind: history.Fault, BoardID: id, CommandID: cmd, Text: "silent"})
		}
		action := "refuse"
		if acted {
			action = actions[op]
		}
		if acted || outcome == vocab.Refused {
			h.emit(history.Event{Kind: history.Actuation, BoardID: id, PlaceID: b.place, DoorID: door, Channel: 1, Boot: b.boot, Action: action, Cause: "command", CommandID: cmd, Revision: b.rev})
		}
		if outcome != vocab.NoResponse {
			report := history.Event{Kind: history.Received, BoardID: id, CommandID: cmd, Result: "ok"}
			if outcome == vocab.Refused {
				report.Result, report.Reason = "refused", "jammed"
			}
			h.emit(report)
		}
	}
	result := map[vocab.Outcome]vocab.Result{vocab.Reported: wants[op], vocab.Offline: vocab.Offline, vocab.Refused: vocab.Refused, vocab.NoResponse: vocab.NoResponse}[outcome]
	h.emit(history.Event{Kind: history.RecordIn, RecordID: h.id("rec"), PlaceID: b.place, DoorID: door, CommandID: cmd, Result: result, Reason: "api", Method: "api", Actor: "api:key_1", Text: "partner 20261121"})
	answer(req, false)
	for range repeats {
		answer(ask(), true)
	}
	return cmd
}

// reuse makes a different request under a used key.
func (h *builder) reuse(id, key, op string) {
	b := h.boards[id]
	e := history.Event{PlaceID: b.place, DoorID: doorOf(id, 1), Key: history.KeyHash(b.place, key), Meaning: meaningOf(doorOf(id, 1), op, 0), Request: h.id("req"), Kind: history.Attempt}
	h.emit(e)
	e.Kind, e.Status, e.Code = history.Answer, 409, codeReused
	h.emit(e)
}
