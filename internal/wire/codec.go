package wire

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Every door command takes a Command down, a Report up and an Ack down. Marshal and Unmarshal handle these three without
// reflection as long as they have their usual form: fields in the order of the type, and texts that JSON doesn't escape. Everything
// else goes through encoding/json, so which messages are valid, and what they mean, doesn't depend on this file.

// Marshal is json.Marshal.
func Marshal(v any) ([]byte, error) {
	w := writer{b: make([]byte, 0, 256), usual: true}
	switch v := v.(type) {
	case Command:
		w.command(&v)
	case Report:
		w.report(&v)
	case Ack:
		w.ack(&v)
	default:
		w.usual = false
	}
	if w.usual {
		return w.b, nil
	}
	return json.Marshal(v)
}

// Unmarshal is json.Unmarshal into a zero value.
func Unmarshal(p []byte, v any) error {
	r := reader{rest: p, usual: true}
	switch v := v.(type) {
	case *Command:
		if c := r.command(); r.all() {
			*v = c
			return nil
		}
	case *Report:
		if t := r.report(); r.all() {
			*v = t
			return nil
		}
	case *Ack:
		if a := r.ack(); r.all() {
			*v = a
			return nil
		}
	}
	return json.Unmarshal(p, v)
}

// writer appends fields. Keys come with all punctuation before their value.
type writer struct {
	b     []byte
	usual bool // nothing needed escaping
}

func (w *writer) text(key, s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			w.usual = false
		}
	}
	w.b = append(append(append(append(w.b, key...), '"'), s...), '"')
}

func (w *writer) number(key string, n int64) {
	w.b = strconv.AppendInt(append(w.b, key...), n, 10)
}

func (w *writer) truth(key string, v bool) {
	w.b = strconv.AppendBool(append(w.b, key...), v)
}

// optionalText writes a field that is left out when empty.
func (w *writer) optionalText(key, s string) {
	if s != "" {
		w.text(key, s)
	}
}

// optionalNumber writes a field that is left out when 0.
func (w *writer) optionalNumber(key string, n int64) {
	if n != 0 {
		w.number(key, n)
	}
}

func (w *writer) command(c *Command) {
	w.text(`{"id":`, c.ID)
	w.number(`,"epoch":`, c.Epoch)
	w.number(`,"seq":`, c.Seq)
	w.text(`,"doorId":`, c.DoorID)
	w.number(`,"channel":`, int64(c.Channel))
	w.text(`,"command":`, c.Command)
	w.optionalNumber(`,"minutes":`, int64(c.Minutes))
	w.number(`,"notAfterMs":`, c.NotAfterMs)
	w.optionalText(`,"grantId":`, c.GrantID)
	w.b = append(w.b, '}')
}

func (w *writer) report(r *Report) {
	w.text(`{"commandId":`, r.CommandID)
	w.number(`,"epoch":`, r.Epoch)
	w.text(`,"result":`, string(r.Result))
	w.optionalText(`,"code":`, r.Code)
	w.number(`,"at":`, r.At)
	if s := r.Standing; s != nil {
		w.b = append(w.b, `,"standing":{`...)
		if s.DoorID != "" {
			w.text(`"doorId":`, s.DoorID)
			w.b = append(w.b, ',')
		}
		w.number(`"channel":`, int64(s.Channel))
		w.text(`,"state":`, s.State)
		w.text(`,"leaf":`, s.Leaf)
		w.number(`,"since":`, s.Since)
		if s.HoldUntil != nil {
			w.number(`,"holdUntil":`, *s.HoldUntil)
		}
		if s.Held {
			w.truth(`,"held":`, true)
		}
		w.optionalNumber(`,"seq":`, s.Seq)
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, '}')
}

func (w *writer) ack(a *Ack) {
	w.text(`{"type":`, a.Type)
	w.number(`,"epoch":`, a.Epoch)
	w.number(`,"sessionMs":`, a.SessionMs)
	w.number(`,"time":`, a.Time)
	w.optionalText(`,"commandId":`, a.CommandID)
	w.optionalNumber(`,"seq":`, a.Seq)
	w.truth(`,"accepted":`, a.Accepted)
	w.b = append(w.b, '}')
}

// reader reads what writer wrote. After the first thing that isn't usual it returns zero values only.
type reader struct {
	rest  []byte
	usual bool
}

// all reports whether the whole message was usual.
func (r *reader) all() bool { return r.usual && len(r.rest) == 0 }

// optional skips text that may be missing, and reports whether it was there.
func (r *reader) optional(text string) bool {
	if !r.usual || len(r.rest) < len(text) || string(r.rest[:len(text)]) != text {
		return false
	}
	r.rest = r.rest[len(text):]
	return true
}

// skip skips text that must be there.
func (r *reader) skip(text string) { r.usual = r.optional(text) }

func (r *reader) text(key string) string {
	r.skip(key)
	return r.value()
}

// value reads a text in quotes.
func (r *reader) value() string {
	if r.skip(`"`); !r.usual {
		return ""
	}
	end := bytes.IndexByte(r.rest, '"')
	if end < 0 {
		r.usual = false
		return ""
	}
	for _, c := range r.rest[:end] {
		if c < ' ' || c > '~' || c == '\\' {
			r.usual = false
			return ""
		}
	}
	s := string(r.rest[:end])
	r.rest = r.rest[end+1:]
	return s
}

func (r *reader) optionalText(key string) string {
	if !r.optional(key) {
		return ""
	}
	return r.value()
}

func (r *reader) number(key string) int64 {
	r.skip(key)
	return r.digits()
}

// digits reads a whole number of at most 18 digits.
func (r *reader) digits() (n int64) {
	negative := r.optional("-")
	i := 0
	for i < len(r.rest) && r.rest[i] >= '0' && r.rest[i] <= '9' {
		if i < 18 {
			n = n*10 + int64(r.rest[i]-'0')
		}
		i++
	}
	if !r.usual || i == 0 || i > 18 || i > 1 && r.rest[0] == '0' {
		r.usual = false
		return 0
	}
	r.rest = r.rest[i:]
	if negative {
		return -n
	}
	return n
}

func (r *reader) optionalNumber(key string) int64 {
	if !r.optional(key) {
		return 0
	}
	return r.digits()
}

func (r *reader) command() (c Command) {
	c.ID = r.text(`{"id":`)
	c.Epoch = r.number(`,"epoch":`)
	c.Seq = r.number(`,"seq":`)
	c.DoorID = r.text(`,"doorId":`)
	c.Channel = int(r.number(`,"channel":`))
	c.Command = r.text(`,"command":`)
	c.Minutes = int(r.optionalNumber(`,"minutes":`))
	c.NotAfterMs = r.number(`,"notAfterMs":`)
	c.GrantID = r.optionalText(`,"grantId":`)
	r.skip(`}`)
	return c
}

func (r *reader) report() (t Report) {
	t.CommandID = r.text(`{"commandId":`)
	t.Epoch = r.number(`,"epoch":`)
	t.Result = vocab.Result(r.text(`,"result":`))
	t.Code = r.optionalText(`,"code":`)
	t.At = r.number(`,"at":`)
	if r.optional(`,"standing":{`) {
		s := &Standing{}
		if s.DoorID = r.optionalText(`"doorId":`); s.DoorID != "" {
			r.skip(`,`)
		}
		s.Channel = int(r.number(`"channel":`))
		s.State = r.text(`,"state":`)
		s.Leaf = r.text(`,"leaf":`)
		s.Since = r.number(`,"since":`)
		if r.optional(`,"holdUntil":`) {
			until := r.digits()
			s.HoldUntil = &until
		}
		s.Held = r.optional(`,"held":true`)
		s.Seq = r.optionalNumber(`,"seq":`)
		r.skip(`}`)
		t.Standing = s
	}
	r.skip(`}`)
	return t
}

func (r *reader) ack() (a Ack) {
	a.Type = r.text(`{"type":`)
	a.Epoch = r.number(`,"epoch":`)
	a.SessionMs = r.number(`,"sessionMs":`)
	a.Time = r.number(`,"time":`)
	a.CommandID = r.optionalText(`,"commandId":`)
	a.Seq = r.optionalNumber(`,"seq":`)
	switch {
	case r.optional(`,"accepted":true`):
		a.Accepted = true
	default:
		r.skip(`,"accepted":false`)
	}
	r.skip(`}`)
	return a
}
