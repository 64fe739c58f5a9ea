package age

import (
	"encoding/json"
	"net/http"
	"time"
)

// limit is how long boards decide on their own.
const limit = 36 * time.Hour

// mishaps draws outages and reboots of boards and restarts of the server.
func (d *drawing) mishaps() {
	for _, p := range d.r.places {
		if !p.live {
			continue
		}
		for _, b := range p.boards {
			for range d.often(0.02) {
				d.outage(p, b)
			}
			for range d.often(0.01) {
				d.then(d.when(calmLines), d.strike("reboot", b))
			}
		}
	}
	for range d.often(1.0 / 7) {
		d.then(d.when(calmLines), d.restart(d.r.tb.Restart, "server restarted"))
	}
	for range d.often(1.0 / 7) {
		d.then(d.when(calmLines), d.restart(d.r.tb.Kill, "server killed"))
	}
}

// outage cuts a board's line, for minutes, hours, or more than 36 hours, and puts people
// at its doors at the moments that matter.
func (d *drawing) outage(p *place, board string) {
	var long time.Duration
	switch u := d.rng.IntN(10); {
	case u < 5:
		long = time.Minute + time.Duration(d.rng.Int64N(int64(3*hour)))
	case u < 8:
		long = 3*hour + time.Duration(d.rng.Int64N(int64(33*hour)))
	default:
		long = limit + time.Duration(d.rng.Int64N(int64(20*hour)))
	}
	cut := d.when(calmLines + long).Truncate(time.Millisecond)
	if cut.Add(long).After(d.to.Add(-calmLines)) {
		return // the segment is too short for it
	}
	d.then(cut, func() { d.r.arm("offline", board, nil) })
	d.then(cut.Add(long), func() { d.r.disarm("offline", board) })
	for _, at := range p.doors {
		if at.board != board {
			continue
		}
		d.entriesAt(cut.Add(long/2), p, at)
		for _, edge := range []time.Duration{limit - time.Second, limit, limit + time.Second, limit + time.Millisecond} {
			if edge < long {
				d.entriesAt(cut.Add(edge), p, at)
			}
		}
	}
}

// strike is a fault that acts at once and is gone.
func (d *drawing) strike(fault, board string) func() {
	return func() {
		if d.r.armed["offline "+board] == "" { // an outage is an outage
			d.r.operate(http.MethodPost, "/faults", "", map[string]any{"fault": fault, "boards": []string{board}}, false)
			d.r.did(mishaps, fault)
		}
	}
}

func (d *drawing) restart(how func() error, what string) func() {
	return func() {
		if err := how(); err != nil {
			d.r.failed("%s: %w", what, err)
		}
		d.r.did(mishaps, what)
	}
}

// arm arms a fault on a board, unless it has it already.
func (r *run) arm(fault, board string, more map[string]any) {
	name := fault + " " + board
	if r.armed[name] != "" {
		return
	}
	body := map[string]any{"fault": fault, "boards": []string{board}}
	for k, v := range more {
		body[k] = v
	}
	var data struct{ FaultID string }
	_ = json.Unmarshal(r.operate(http.MethodPost, "/faults", "", body, false).envelope().Data, &data)
	r.did(mishaps, fault)
	r.armed[name] = data.FaultID
}

// disarm removes a fault from a board.
func (r *run) disarm(fault, board string) {
	name := fault + " " + board
	if id := r.armed[name]; id != "" {
		delete(r.armed, name)
		r.operate(http.MethodDelete, "/faults/"+id, "", nil, false)
	}
}
