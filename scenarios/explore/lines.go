package explore

import "fmt"

// cut takes a board's line down, cleanly: both ends notice at once.
func (m *model) cut(o Op) {
	b, _ := m.where(o.Door)
	if !b.online {
		return
	}
	m.settle()
	m.quiet(b)
	m.drop(b)
	m.add("fault", fields{"fault", "offline", "name", fmt.Sprintf("line%d", b.index), "of", boardName(b.index), "hits", 0})
	m.add("boards", fields{"of", boardName(b.index), "all", "not online"}).within = "30s"
}

// mend brings the line back and waits until the board is synchronized.
func (m *model) mend(o Op) {
	b, _ := m.where(o.Door)
	if b.online {
		return
	}
	m.meet(b)
	m.add("clear", fmt.Sprintf("line%d", b.index))
	m.add("synced", fields{"of", boardName(b.index)}).clauses = []string{"OFF-4"}
}

// quiet waits until a board has uploaded its records.
func (m *model) quiet(b *board) {
	if b.online {
		m.add("boards", fields{"of", boardName(b.index), "all", "bufferedRecords == 0"}).within = "3s"
	}
}

func (m *model) quietAll() {
	for _, b := range m.boards {
		m.quiet(b)
	}
}

// fault makes a board answer commands wrongly, or rightly again.
func (m *model) fault(o Op) {
	b, _ := m.where(o.Door)
	name := fmt.Sprintf("fault%d", b.index)
	if m.faults[b.index] != nil {
		m.faults[b.index] = nil
		m.add("clear", name)
		return
	}
	f := &fault{name: o.Name}
	args := fields{"fault", o.Name, "name", name, "of", boardName(b.index), "hits", 0}
	if o.Name == "refuse" {
		f.code = []string{"busy", "jammed", "tamper"}[o.N%3]
		args = append(args, "params", fields{"code", f.code})
	}
	m.faults[b.index] = f
	m.add("fault", args)
}

// reboot makes a board start again, with its flash, without it, or without its clock.
func (m *model) reboot(o Op) {
	b, _ := m.where(o.Door)
	m.settle()
	m.quiet(b)
	back := b.online
	m.boot(b, o.Name)
	m.add("fault", fields{"fault", o.Name, "name", "boot", "of", boardName(b.index), "hits", 0})
	if back {
		m.meet(b)
		m.add("synced", fields{"of", boardName(b.index)}).clauses = []string{"CMD-6"}
	}
}

// restart ends the server's life, in order or not; every connection ends with it.
func (m *model) restart(o Op) {
	m.settle()
	if o.Flag {
		m.counted()
	}
	m.reconnected(func() { m.add("control", fields{"method", "POST", "path", "/restart", "body", fields{"kill", o.Flag}}) })
}

// counted waits until the counts of repeats are on disk: whoever reads records does.
func (m *model) counted() {
	if m.unread {
		m.unread = false
		m.add("records", fields{"place", "lab"})
	}
}
