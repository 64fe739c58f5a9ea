package engine

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/byhand"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// echo is a broker that refuses the password "wrong" and subscriptions to "#", and sends each message back on the
// channel ack, except that it answers one to the channel bye by closing the connection.
func echo(t *testing.T) (address string) {
	t.Helper()
	l := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go echoOne(conn)
		}
	}()
	return "tcp://" + l.Addr().String()
}

func echoOne(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		var head [2]byte // type and length: all packets here are shorter than 128 bytes
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		body := make([]byte, head[1])
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		switch head[0] >> 4 {
		case 1: // CONNECT
			code := byte(0)
			if strings.HasSuffix(string(body), "wrong") {
				code = 5
			}
			_, _ = conn.Write([]byte{0x20, 2, 0, code})
		case 3: // PUBLISH
			topic, payload := string(body[2:2+body[1]]), body[2+body[1]:]
			if strings.HasSuffix(topic, "/bye") {
				return
			}
			const to = "sac/v1/brd_1/ack"
			_, _ = conn.Write(append(append([]byte{0x30, byte(2 + len(to) + len(payload)), 0, byte(len(to))}, to...), payload...))
		case 8: // SUBSCRIBE
			out := []byte{0x90, 2, body[0], body[1]}
			for rest := body[2:]; len(rest) > 0; rest = rest[3+rest[1]:] {
				code := byte(0)
				if string(rest[2:2+rest[1]]) == "#" {
					code = 128
				}
				out = append(out, code)
			}
			out[1] = byte(len(out) - 2)
			_, _ = conn.Write(out)
		}
	}
}

// TestMQTTByHand: what each part of the step does, and when it fails. Those that wait for a message have time for it on a busy
// machine, too: the default of quiet is 300 ms.
func TestMQTTByHand(t *testing.T) {
	t.Parallel()
	address := echo(t)
	const board = `{mqtt: {board: brd_1}}, `
	for name, c := range map[string]struct {
		steps  string
		want   judge.Status
		reason string
	}{
		"answered":           {board + `{mqtt: {send: ping, payload: {n: 3}, await: ack, where: payload.n == 3}, expect: 'payload.n == 3 and topic == "sac/v1/brd_1/ack" and not retained'}`, judge.Pass, ""},
		"as text":            {board + `{mqtt: {send: ping, raw: "x y", await: ack}, expect: 'payload == "x y"'}`, judge.Pass, ""},
		"two":                {`{mqtt: {as: a, board: brd_1}}, {mqtt: {as: b, board: brd_1}}, {mqtt: {as: b, send: ping, payload: {n: 1}}}, {mqtt: {as: a, quiet: ack, for: 10ms}}, {mqtt: {as: b, await: ack}, expect: payload.n == 1}`, judge.Pass, ""},
		"in order":           {board + `{mqtt: {send: x, payload: {n: 1}}}, {mqtt: {send: x, payload: {n: 2}}}, {mqtt: {await: ack}, expect: payload.n == 1}, {mqtt: {await: ack}, expect: payload.n == 2}`, judge.Pass, ""},
		"passed over":        {board + `{mqtt: {send: x, payload: {n: 1}}}, {mqtt: {send: x, payload: {n: 2}}}, {mqtt: {await: ack, where: payload.n == 2}, expect: payload.n == 2}, {mqtt: {await: ack, for: 10ms}}`, judge.Fail, "no ack came within 10ms"},
		"unexpected":         {board + `{mqtt: {send: x, payload: {n: 2}, await: ack}, expect: payload.n == 1}`, judge.Fail, "expected payload.n == 1"},
		"nothing that fits":  {board + `{mqtt: {send: x, payload: {n: 2}, await: ack, where: payload.n == 1, for: 3s}}`, judge.Fail, `no ack with payload.n == 1 came within 3s; 1 other message came, the last: {"n":2}`},
		"quiet":              {board + `{mqtt: {quiet: cmd, for: 10ms}}`, judge.Pass, ""},
		"not quiet":          {board + `{mqtt: {send: x, payload: {n: 2}, quiet: ack, for: 1m}}`, judge.Fail, `a message arrived on ack, but quiet expected none: {"n":2}`},
		"already not quiet":  {board + `{mqtt: {send: x}}, {mqtt: {send: x, await: ack}}, {mqtt: {send: x}}, {mqtt: {quiet: ack, for: 1m}}`, judge.Fail, "a message arrived on ack"},
		"quiet because over": {board + `{mqtt: {send: bye, await: end}}, {mqtt: {quiet: ack}}`, judge.Fail, "the connection has ended, so ack can't come"},
		"quiet, wrongly put": {board + `{mqtt: {send: x, payload: {n: 2}, quiet: ack, for: 3s, where: payload.n.m == 1}}`, judge.Blocked, "payload.n.m"},
		"over too early":     {board + `{mqtt: {send: bye, await: ack}}`, judge.Fail, "no ack came before the connection ended"},
		"never over":         {board + `{mqtt: {await: end, for: 10ms}}`, judge.Fail, "the server didn't close the connection within 10ms"},
		"closed by hand":     {board + `{mqtt: {close: drop}}, {mqtt: {send: x}}`, judge.Fail, "publishing to x: the connection had ended before"},
		"closed before":      {board + `{mqtt: {send: bye, await: end}}, {mqtt: {send: x, await: end}}`, judge.Fail, "publishing to x: the connection had ended before"},
		"refused, and more":  {`{set: {code: 5}}, {mqtt: {board: brd_1, connect: {password: wrong}, connack: "${code}", send: x, await: ack}}`, judge.Blocked, "a connection that is refused as expected can't send or wait"},
		"refused":            {`{mqtt: {board: brd_1, connect: {password: wrong}, connack: 5}, expect: connack == 5}`, judge.Pass, ""},
		"refused by mistake": {`{mqtt: {board: brd_1, connect: {password: wrong}}}`, judge.Fail, "expected CONNACK 0\nfound 5"},
		"let in by mistake":  {`{mqtt: {board: brd_1, connack: 5}}`, judge.Fail, "expected CONNACK 5\nfound 0"},
		"granted":            {`{mqtt: {board: brd_1, subscribe: [cmd, "#"]}, expect: "granted == [0, 128]"}`, judge.Pass, ""},
		"nothing subscribed": {`{mqtt: {board: brd_1, subscribe: []}, expect: "granted == []"}`, judge.Pass, ""},
		"no such board":      {`{mqtt: {board: brd_9}}`, judge.Blocked, `no board "brd_9"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.broker = address
			ends(t, f, "steps: ["+c.steps+"]", c.want, c.reason)
		})
	}
}

// TestMQTTParts: parts of the step that do nothing, or numbers that can't be right, are reported before anything runs.
func TestMQTTParts(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{
		`mqtt: {board: brd_1}`:                                    "",
		`mqtt: {send: ping}`:                                      `no connection "hand" in this file yet: a step with board opens one`,
		`mqtt: {as: "x${1}", send: ping}`:                         "",
		`mqtt: {board: brd_1, connect: {kept: true}, connack: 5}`: "",
		`mqtt: {board: brd_1, connack: 5, send: ping}`:            "a connection that is refused as expected can't send or wait",
		`mqtt: {board: brd_1, connack: 5, quiet: ack}`:            "a connection that is refused as expected can't send or wait",
		`mqtt: {board: brd_1, connack: 0, send: ping}`:            "",
		`mqtt: {board: brd_1, connack: 256}`:                      "connack must be a whole number from 0 to 255",
		`mqtt: {board: brd_1, send: ping, qos: 3}`:                "qos must be a whole number from 0 to 2",
		`mqtt: {board: brd_1, connect: {keepAlive: 65536}}`:       "keepAlive must be a whole number from 0 to 65535",
		`mqtt: {board: brd_1, connect: {level: 6}}`:               "level must be a whole number from 3 to 5",
		`mqtt: {board: brd_1, payload: {n: 1}}`:                   "payload does nothing without send",
		`mqtt: {board: brd_1, raw: x}`:                            "raw does nothing without send",
		`mqtt: {board: brd_1, retain: true}`:                      "retain does nothing without send",
		`mqtt: {board: brd_1, where: payload.n == 1}`:             "where does nothing without await or quiet",
		`mqtt: {board: brd_1, for: 1s}`:                           "for does nothing without await or quiet",
		`mqtt: {board: brd_1, send: a, raw: x, payload: 1}`:       "give payload or raw",
		`mqtt: {board: brd_1, await: ack, quiet: cmd}`:            "await or quiet, not both",
		`mqtt: {as: a, connect: {kept: true}}`:                    "connect does nothing without board",
		`mqtt: {}`:                                                "the step does nothing: give board, send, await, quiet or close",
		`mqtt: {board: brd_1, await: akc}`:                        `did you mean "ack"?`,
		`mqtt: {board: brd_1, auto: [synk]}`:                      `did you mean "sync"?`,
		`mqtt: {board: brd_1, connect: {clientid: x}}`:            `did you mean "clientId"?`,
	} {
		literalProblem(t, step, want)
	}
}

// TestGoodAnswer: what auto answers.
func TestGoodAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		channel string
		in      m
		to      string
		want    string
	}{
		{"sync", m{"to": 3.0, "digest": "aa"}, "ack", `{"digest":"aa","revision":3,"type":"sync"}`},
		{"sync", m{"to": 3.0, "digest": "aa", "page": 1.0, "pages": 2.0}, "ack", `{"page":1,"revision":3,"type":"page"}`},
		{"sync", m{"to": 3.0, "digest": "aa", "page": 2.0, "pages": 2.0}, "ack", `{"digest":"aa","revision":3,"type":"sync"}`},
		{"cfg", m{"id": "cfg_1", "netloss": m{"graceSec": 1.0}}, "ack", `{"id":"cfg_1","netloss":{"graceSec":1},"result":"ok","type":"cfg"}`},
		{"cmd", m{"id": "cmd_1", "epoch": 7.0}, "rpt", `{"commandId":"cmd_1","epoch":7,"result":"ok"}`},
	} {
		to, say := goodAnswer(c.channel, c.in)
		if got := brief(say, 1000); to != c.to || got != c.want {
			t.Errorf("%s %v: got %s to %s, want %s to %s", c.channel, c.in, got, to, c.want, c.to)
		}
	}
}

// TestHandForgets: a message is taken once; what came before a send isn't its answer.
func TestHandForgets(t *testing.T) {
	t.Parallel()
	conn := must.Get(byhand.Dial(t.Context(), echo(t), nil, func(byhand.Message) {}))(t)
	defer conn.Drop()
	h := &hand{conn: conn, ended: conn.Over(), board: "brd_1"}
	all := func(received) bool { return true }
	for _, text := range []string{"a", "b"} {
		h.hear(byhand.Message{Topic: "sac/v1/brd_1/ack", Payload: []byte(text)})
		h.hear(byhand.Message{Topic: "sac/v1/brd_1/cmd", Payload: []byte(text)})
	}
	if got := h.next(t.Context(), "ack", time.Minute, all); got == nil || got.payload != "a" {
		t.Errorf("got %v, want a", got)
	}
	h.forget("ack")
	if got := h.next(t.Context(), "ack", time.Millisecond, all); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
	if got := h.next(t.Context(), "cmd", time.Minute, func(r received) bool { return r.payload == "b" }); got == nil || got.payload != "b" {
		t.Errorf("got %v, want b", got)
	}
}

// TestPagesAreJoined: with auto page a change that comes in pages is one message, and each page but the last is
// acknowledged; a change that starts over drops the pages that had come before.
func TestPagesAreJoined(t *testing.T) {
	t.Parallel()
	conn := must.Get(byhand.Dial(t.Context(), echo(t), nil, func(byhand.Message) {}))(t)
	defer conn.Drop()
	h := &hand{conn: conn, ended: conn.Over(), board: "brd_1", auto: []string{"page"}}
	for _, text := range []string{
		`{"to":7,"page":1,"pages":3,"upsert":["old"]}`,
		`{"to":9,"snapshot":true,"page":1,"pages":3,"doors":[1],"upsert":["a"]}`,
		`{"to":9,"page":2,"pages":3,"upsert":["b","c"],"remove":["x"]}`,
		`{"to":9,"page":3,"pages":3,"upsert":["d"]}`,
		`{"to":10,"upsert":["e"]}`,
	} {
		h.hear(byhand.Message{Topic: "sac/v1/brd_1/sync", Payload: []byte(text)})
	}
	for _, want := range []string{
		`{"doors":[1],"remove":["x"],"snapshot":true,"to":9,"upsert":["a","b","c","d"]}`,
		`{"to":10,"upsert":["e"]}`,
	} {
		if got := h.next(t.Context(), "sync", time.Millisecond, func(received) bool { return true }); got == nil || brief(got.payload, 1000) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	if got := h.next(t.Context(), "sync", time.Millisecond, func(received) bool { return true }); got != nil {
		t.Errorf("got %v, want nothing more", got)
	}
}

// TestSeveralWaitAtOnce: a message wakes everybody who waits on a connection, not only who came first.
func TestSeveralWaitAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hand{board: "brd_1"}
		got := make(chan *received)
		for _, channel := range []string{"ack", "cmd", "sync"} {
			go func() { got <- h.next(t.Context(), channel, time.Minute, func(received) bool { return true }) }()
		}
		synctest.Wait()
		for _, channel := range []string{"sync", "cmd", "ack"} {
			h.hear(byhand.Message{Topic: "sac/v1/brd_1/" + channel})
			if r := <-got; r == nil || r.channel != channel {
				t.Errorf("got %+v, want %s", r, channel)
			}
		}
	})
}

// TestTell: what is said, and that the board's answers are the step's result.
func TestTell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps  string
		want   judge.Status
		reason string
	}{
		"where it stands": {`{tell: {board: brd_1}, expect: "epoch == 7 and revision == 3 and said == []"}`, judge.Pass, ""},
		"an object":       {`{tell: {board: brd_1, send: cmd, payload: {n: 3, to: ["${1 + 1}"]}}, expect: 'said[0].payload == {"channel": "cmd", "payload": {"n": 3, "to": [2]}}'}`, judge.Pass, ""},
		"as it is":        {`{tell: {board: brd_1, send: ack, raw: "not ${\"json\"}"}, expect: 'said[0].payload == {"channel": "ack", "raw": "not json"}'}`, judge.Pass, ""},
		"nothing given":   {`{tell: {board: brd_1, send: sync}, expect: 'said[0].payload == {"channel": "sync"}'}`, judge.Pass, ""},
		"unexpected":      {`{tell: {board: brd_1, send: sync}, expect: "said == []"}`, judge.Fail, "expected said == []"},
		"no such board":   {`{tell: {board: brd_9}, expect: epoch == 7}`, judge.Blocked, `no board "brd_9"`},
		"a real board":    {`{tell: {board: brd_r}, expect: epoch == 7}`, judge.Blocked, "board brd_r is a real one: it listens to nobody but its server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.real = true
			ends(t, f, "steps: ["+c.steps+", {call: {path: /echo}, expect: data.n == 3}]", c.want, c.reason)
		})
	}
	for expect, want := range map[string]judge.Status{"said == []": judge.Invalid, "epoch >= 1": judge.Invalid, "epoch > 0": judge.Invalid, "revision == 3": judge.Pass} {
		ends(t, newFake(t), `steps: [{tell: {board: brd_1}, expect: "`+expect+`"}]`, want, "")
	}
	for step, want := range map[string]string{
		`tell: {board: brd_1, send: cmd}`:                      "",
		`tell: {send: cmd}`:                                    "board",
		`tell: {board: brd_1, send: hello}`:                    "cmd",
		`tell: {board: brd_1, payload: {n: 1}}`:                "a message needs send, the channel that it is sent to",
		`tell: {board: brd_1, raw: x}`:                         "a message needs send, the channel that it is sent to",
		`tell: {board: brd_1, send: cmd, raw: x, payload: {}}`: "give payload or raw",
	} {
		literalProblem(t, step, want)
	}
}
