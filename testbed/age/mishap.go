package age

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/command"
)

// limit is how long boards decide on their own.
const limit = 36 * time.Hour

// mishaps draws outages and reboots of boards and restarts of the server.
func (d *drawing) mishaps() {
	live := slices.DeleteFunc(slices.Clone(d.r.places), func(p *place) bool { return !p.live })
	if p := live[d.rng.IntN(len(live))]; d.to.Sub(d.from) >= 5*24*hour { // at least one that is too long
		d.outage(p, p.boards[d.rng.IntN(len(p.boards))], limit+time.Duration(d.rng.Int64N(int64(20*hour))))
	}
	for _, p := range live {
		for _, b := range p.boards {
			for range d.often(0.02) {
				d.outage(p, b, d.length())
			}
			for _, s := range strikes {
				for range d.often(s.perDay) {
					d.befall(d.when(calmFaults), d.strike(s.fault, b, s.more))
				}
			}
		}
	}
	for range d.often(1.0 / 28) {
		d.silence(live)
	}
	for range d.often(2.0 / 7) {
		d.befall(d.when(calmLines), d.crash())
	}
	for range d.often(1.0 / 7) {
		d.befall(d.when(calmLines), d.restart(d.r.tb.Restart, "server restarted"))
	}
	for range d.often(1.0 / 7) {
		d.befall(d.when(calmLines), d.restart(d.r.tb.Kill, "server killed"))
	}
}

// length draws how long an outage lasts: minutes, hours, or more than 36 hours.
func (d *drawing) length() time.Duration {
	switch u := d.rng.IntN(10); {
	case u < 5:
		return time.Minute + time.Duration(d.rng.Int64N(int64(3*hour)))
	case u < 8:
		return 3*hour + time.Duration(d.rng.Int64N(int64(33*hour)))
	}
	return limit + time.Duration(d.rng.Int64N(int64(20*hour)))
}

// outage cuts a board's line, and sends people to its doors at the times that matter.
func (d *drawing) outage(p *place, board string, long time.Duration) {
	cut := d.some(calmLines + long).Truncate(time.Millisecond)
	if cut.Add(long).After(d.to.Add(-calmLines)) {
		return // the segment is too short for it
	}
	d.befall(cut, func() { d.r.arm("offline", board) })
	d.befall(cut.Add(long), func() { d.r.disarm("offline", board) })
	for _, at := range p.doors {
		if at.board != board {
			continue
		}
		d.onsiteAt(cut.Add(long/2), p, at)
		for _, edge := range []time.Duration{limit - time.Second, limit, limit + time.Second, limit + time.Millisecond} {
			if edge < long {
				d.onsiteAt(cut.Add(edge), p, at)
			}
		}
	}
}

// strikes are the faults that need no end: they act once, or for at most a few hours, and are over before the segment
// is.
var strikes = []struct {
	fault  string
	perDay float64
	more   map[string]any
}{
	{"reboot", 0.01, nil}, {"reboot-wiped", 0.002, nil}, {"no-clock", 0.002, nil},
	{"skew", 0.01, map[string]any{"for": "5h", "params": map[string]any{"seconds": 2700}}}, {"skew", 0.01, map[string]any{"for": "5h", "params": map[string]any{"seconds": -5400}}},
	{"refuse", 0.01, map[string]any{"for": "5h"}}, {"duplicate", 0.01, map[string]any{"for": "5h"}}, {"stale", 0.005, map[string]any{"for": "5h"}},
}

// silence has some boards not answer the commands of one moment. Each costs the server's whole wait, so they share it.
func (d *drawing) silence(live []*place) {
	at := d.when(calmFaults)
	for range 2 + d.rng.IntN(5) {
		p := live[d.rng.IntN(len(live))]
		of, fault := d.door(p), []string{"silent", "silent-after"}[d.rng.IntN(2)]
		if d.commandAt(at, p, of) {
			d.moment(at).uncalled[p] = true // the silence is for the command
			d.befall(at, d.strike(fault, of.board, map[string]any{"for": "1m", "nth": 1, "doorIds": []string{of.id}}))
		}
	}
}

const calmFaults = 7 * time.Hour

// strike is a fault that needs no end. Combined with an outage it would hide the outage.
func (d *drawing) strike(fault, board string, more map[string]any) func() {
	return func() {
		if d.r.armed["offline "+board] != "" {
			return
		}
		body := map[string]any{"fault": fault, "boards": []string{board}}
		maps.Copy(body, more)
		d.r.operate(http.MethodPost, "/faults", "", body, false)
		d.r.did(mishaps, fault)
	}
}

// crash kills the server at a step of a command, which is then repeated.
func (d *drawing) crash() func() {
	p := d.r.places[d.rng.IntN(len(d.r.places))]
	at := d.door(p)
	point := command.CrashPoints[d.rng.IntN(len(command.CrashPoints))]
	k := d.command(at)
	return func() { d.r.crash(p, at.board, point, k) }
}

// crash does nothing if the command doesn't get as far as the step, because its board is offline.
func (r *run) crash(p *place, board string, point command.Point, k *keyed) {
	if r.armed["offline "+board] != "" {
		return
	}
	r.rest(r.clk.Now(), 1) // a board that another mishap of this moment rebooted comes back
	r.signIn(p)
	lives := r.tb.Lives()
	if err := r.tb.CrashAt(string(point)); err != nil {
		r.failed("crash at %s: %w", point, err)
		return
	}
	if r.command(p, k) != unanswered {
		r.operate(http.MethodDelete, "/restart", "", nil, false)
		return
	}
	for until := clock.Mono() + revival; r.tb.Lives() == lives; {
		if clock.Mono() > until {
			r.failed("the server died at %s and didn't come back", point)
			return
		}
		_ = client.Pause(context.Background(), 2*time.Millisecond)
	}
	r.did(mishaps, "crash "+string(point)+", then "+r.command(p, k))
}

// revival is how long the server may take to restart.
const revival = time.Minute

func (d *drawing) restart(how func() error, what string) func() {
	return func() {
		if err := how(); err != nil {
			d.r.failed("%s: %w", what, err)
		}
		d.r.did(mishaps, what)
	}
}

// arm arms a fault on a board, unless it has it already.
func (r *run) arm(fault, board string) {
	name := fault + " " + board
	if r.armed[name] != "" {
		return
	}
	body := map[string]any{"fault": fault, "boards": []string{board}}
	r.armed[name] = data[struct{ FaultID string }](r.operate(http.MethodPost, "/faults", "", body, false)).FaultID
	r.did(mishaps, fault)
}

// disarm removes a fault from a board.
func (r *run) disarm(fault, board string) {
	name := fault + " " + board
	if id := r.armed[name]; id != "" {
		delete(r.armed, name)
		r.operate(http.MethodDelete, "/faults/"+id, "", nil, false)
	}
}
