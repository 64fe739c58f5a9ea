package explore

// board is the model of a board: two doors, its synchronized content, and its outage. It knows nothing of the firmware.
type board struct {
	index   int
	online  bool
	skew    int64 // how far its wall clock was ahead at set
	ppm     int64 // how much more it gains since then
	set     int64
	wrong   bool  // its clock stays wrong while other things happen
	contact int64 // the drop
	lost    bool  // the clock, until the server has spoken
	lostAt  int64
	over    bool // over 36 h, until synchronized again
	rested  bool
	grace   int64 // ms
	rest    [2]string
	applied int64 // when the outage policy was set; earlier = before the sequence, never = the board was wiped since
	doors   [2]*door
	has     content // as synchronized
	dirty   bool    // the server has more
	records []*record
	waits   bool // for a server that can't store its records
}

// door is the model of a door.
type door struct {
	held     bool
	holdEnd  int64 // 0 = until locked
	pulseEnd int64
	resting  string // hold or off while an outage drives it
	leaf     bool
	leafAt   int64
	warn     bool
	unheard  bool // unknown to the server: the report was lost
}

const (
	pulse     = 5 * second
	leafLimit = minute
	limit     = 36 * hour // of an outage
	far       = int64(1) << 60
	earlier   = -far
	never     = -far - 1
)

func (d *door) driven() bool { return d.resting == "hold" || d.held && d.resting != "off" }

func (d *door) state() string {
	switch {
	case d.leaf && d.warn:
		return "warning"
	case d.leaf:
		return "open"
	case d.driven():
		return "unlocked"
	}
	return "locked"
}

func (d *door) warnAt() int64 {
	if d.leaf && !d.warn && !d.driven() {
		return d.leafAt + leafLimit + 1
	}
	return far
}

func (d *door) lock() {
	d.held, d.holdEnd, d.pulseEnd, d.resting = false, 0, 0, ""
	d.warn = d.leaf
}

// letGo: a leaf that is open when a hold ends has one minute from then on.
func (d *door) letGo(now int64) {
	if d.leaf && !d.warn {
		d.leafAt = now
	}
}

func (b *board) restAt() int64 {
	switch {
	case b.online || b.rested:
		return far
	case b.lost:
		return b.lostAt
	}
	return b.contact + min(b.grace, limit+1)
}

func (b *board) overAt() int64 {
	switch {
	case b.online || b.over:
		return far
	case b.lost:
		return b.lostAt
	}
	return b.contact + limit + 1
}

// next is when something at the board is due next.
func (b *board) next() int64 {
	t := min(b.restAt(), b.overAt())
	for _, d := range b.doors {
		if d.held && d.holdEnd > 0 {
			t = min(t, d.holdEnd)
		}
		t = min(t, d.warnAt())
	}
	return t
}

// until does everything that is due up to a time, each at its own time.
func (m *model) until(b *board, to int64) {
	for {
		now := b.next()
		if now > to {
			return
		}
		for i, d := range b.doors {
			if d.held && d.holdEnd > 0 && d.holdEnd <= now {
				d.held, d.holdEnd = false, 0
				if d.resting != "hold" {
					d.letGo(now)
					m.line(b, i, "lock", "hold_end", now)
				}
			}
			if d.warnAt() <= now {
				d.warn = true
			}
		}
		if b.restAt() <= now {
			m.applyRest(b, now)
		}
		if b.overAt() <= now {
			b.over = true
		}
	}
}

// applyRest moves each channel to its resting behaviour, see OFF-3.
func (m *model) applyRest(b *board, now int64) {
	b.rested = true
	for i, d := range b.doors {
		switch b.rest[i] {
		case "open":
			d.pulseEnd = now + pulse
			m.line(b, i, "pulse", "outage", now)
		case "hold":
			d.resting, d.warn = "hold", false
			m.line(b, i, "hold", "outage", now)
		case "off":
			if d.driven() {
				d.letGo(now)
			}
			d.resting, d.pulseEnd = "off", 0
			m.line(b, i, "off", "outage", now)
		default:
			d.lock()
			m.line(b, i, "lock", "outage", now)
		}
	}
}

// drop ends a connection in a way that the board notices immediately.
func (m *model) drop(b *board) {
	if b.online {
		b.online, b.contact = false, m.now
	}
	m.until(b, m.now)
}

// meet is the server's first message to the board after an outage: the board recovers, is synchronized, uploads what it
// buffered and reports what wasn't heard.
func (m *model) meet(b *board) {
	if b.online {
		return
	}
	b.online, b.lost, b.rested, b.over = true, false, false, false
	for i, d := range b.doors {
		switch d.resting {
		case "hold":
			d.held, d.holdEnd, d.resting = false, 0, ""
			d.letGo(m.now)
			m.line(b, i, "lock", "outage", m.now)
		case "off":
			d.resting = ""
			if d.held {
				d.warn = false
				m.line(b, i, "hold", "outage", m.now)
			}
		}
	}
	b.has, b.dirty = m.content(), false
	for _, d := range b.doors {
		d.unheard = false
	}
	m.upload(b)
}

// upload has the server hear of the records that a board has kept.
func (m *model) upload(b *board) {
	for _, r := range b.records {
		m.uploaded(r)
	}
	b.records = nil
}

// boot is a reboot; wiped and no-clock also lose something.
func (m *model) boot(b *board, how string) {
	if b.online {
		b.online, b.contact = false, m.now
	}
	for _, d := range b.doors {
		d.pulseEnd = 0
	}
	if how != "reboot" {
		b.lost, b.lostAt = true, m.now
	}
	if how == "reboot-wiped" {
		b.contact, b.rested, b.over = m.now, false, false
		b.grace, b.rest, b.has, b.records = limit, [2]string{"close", "close"}, content{}, nil
		b.applied = never
		for _, d := range b.doors {
			d.held, d.holdEnd, d.resting = false, 0, ""
		}
	}
	m.until(b, m.now)
}

// act is a command that moves the relay.
func (m *model) act(b *board, i int, command string, minutes int) {
	d := b.doors[i]
	switch command {
	case "open":
		d.pulseEnd = m.now + pulse
		m.line(b, i, "pulse", "command", m.now)
	case "hold":
		d.held, d.holdEnd, d.warn = true, 0, false
		if minutes > 0 {
			d.holdEnd = m.now + int64(minutes)*minute
		}
		m.line(b, i, "hold", "command", m.now)
	case "close":
		d.lock()
		m.line(b, i, "lock", "command", m.now)
	}
}

// push moves a leaf.
func (m *model) push(d *door, how string) {
	if how == "close" {
		d.leaf, d.warn = false, false
		return
	}
	if !d.leaf {
		d.leaf, d.leafAt = true, m.now
		d.warn = !d.driven() && d.pulseEnd <= m.now
	}
	d.warn = d.warn || how == "force"
}

// line is what the relay's journal must say.
func (m *model) line(b *board, i int, action, cause string, now int64) {
	m.lines = append(m.lines, line{door: b.index*2 + i, action: action, cause: cause, at: now})
}
