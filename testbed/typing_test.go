package testbed

import (
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
)

// TestTypingInConsole: what somebody typed stays while its part is updated, also once the focus is elsewhere, and the
// focus stays on its button. A password that is shown once stays until it is dismissed.
func TestTypingInConsole(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	board := tb.cfg.World.Places[1].Boards[0]
	p := b.Page(browser.Look{})
	signIn(t, tb, p)
	p.Open(tb.Ready.Control + "/")
	const to = `document.querySelector("#now\\.clock [name=to]")`
	p.Await(to)
	p.Press(to)
	var later string
	p.Eval(`new Date(Date.parse(document.querySelector("#now\\.clock time").textContent.replace(" ", "T") + "Z") + 36e5).toISOString().slice(0, 16).replace("T", " ")`, &later)
	p.Type(later)
	p.Key("Tab", "Tab", 9, 0)
	p.Await(`document.activeElement === ` + to + `.form.querySelector("button")`)
	updated := func() {
		p.Eval(`(window.shown = document.querySelector("#now\\.clock time")), 1`, new(int))
		p.Await(`!window.shown.isConnected && window.shown.textContent !== document.querySelector("#now\\.clock time").textContent`)
	}
	updated()
	p.Await(to + `.value === "` + later + `" && document.activeElement === ` + to + `.form.querySelector("button")`)
	p.Key("Enter", "Enter", 13, 0)
	p.Await(`document.querySelector(".due")`)
	p.Await(to + `.value === ""`) // sent

	p.Open(tb.Ready.Control + "/boards/" + board.ID)
	const detach = `document.querySelector("#board\\.state [name=do][value=detach]").form.querySelector("button")`
	p.Await(detach)
	p.Press(detach)
	p.Await(`document.querySelector("#toast [data-keep] button")`)
	p.Key("Escape", "Escape", 27, 0)
	p.Await(`document.querySelector("#toast [data-keep] button")`)
	p.Press(`document.querySelector("#toast [data-keep] button")`)
	p.Await(`!document.querySelector("#toast p")`)

	p.Open(tb.Ready.Control + "/faults?fault=offline&board=" + tb.cfg.World.Places[1].Boards[1].ID)
	const share = `document.querySelector("#fault-offline [name=share]")`
	p.Press(share)
	p.Type("10")
	p.Await(`document.querySelector("#fault-offline [name=on]:checked").value === "share"`)

	var ids []string
	for _, b := range tb.cfg.World.Places[1].Boards[1:3] {
		var armed struct{ FaultID string }
		clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "refuse", "boards": []string{b.ID}}, &armed)
		ids = append(ids, armed.FaultID)
	}
	p.Open(tb.Ready.Control + "/")
	chip := func(id string) string { return `document.querySelector("#now\\.faults [value='` + id + `']")` }
	for range 2 { // the first update may be one that others have seen
		updated()
	}
	p.Await(`(() => { const b = ` + chip(ids[1]) + `?.form.querySelector("button"); b?.focus(); return b && document.activeElement === b })()`)
	clienttest.Do(t, tb.lab(), http.MethodDelete, "/lab/v1/faults/"+ids[0], nil, nil)
	p.Await(`!` + chip(ids[0]))
	p.Await(`document.activeElement.form?.elements.fault.value === "` + ids[1] + `"`) // not what is at its place now
	clienttest.Do(t, tb.lab(), http.MethodDelete, "/lab/v1/faults/"+ids[1], nil, nil)
	p.Await(`document.activeElement.id === "now.faults"`)
	clean(t, p, tb.Ready.Control)
}
