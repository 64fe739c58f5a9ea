package browser

import (
	"strings"
	"testing"
)

// TestReads: text that is too wide or too faint is found; text that scrolls on its own or is large isn't reported.
func TestReads(t *testing.T) {
	t.Parallel()
	const head = `data:text/html,<!doctype html><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><body style="margin:0">`
	b := Start(t)
	for name, c := range map[string]struct {
		body, wide, faint string
		dark              bool
	}{
		"plain":             {body: `<p>text`},
		"plain, dark":       {body: `<p>text`, dark: true},
		"wide":              {body: `<p style="width:900px">text`, wide: "px: <p style="},
		"scrolls by itself": {body: `<div style="overflow-x:auto"><p style="width:900px">text</div>`},
		"grey":              {body: `<p style="color:rgb(150,150,150)">text`, faint: "2.96 p. text"},
		"grey, large":       {body: `<p style="color:rgb(140,140,140);font-size:24px">text`},
		"grey, on dark":     {body: `<p style="color:rgb(150,150,150)">text`, dark: true},
		"shines through":    {body: `<div style="opacity:.5"><p>text</div>`, faint: " p. text"},
		"on its own ground": {body: `<b style="background:rgb(255,138,128);color:white">!</b>`, faint: "2.28 b. !"},
		"placeholder":       {body: `<style>::placeholder{color:rgb(180,180,180)}</style><input placeholder="later" style="background:white">`, faint: "later"},
		"out of sight":      {body: `<p hidden style="color:white">text`},
	} {
		p := b.Page(Look{Width: 390, Height: 844, Mobile: true, Dark: c.dark})
		p.Open(head + c.body)
		if got := p.Wide(); (got == "") != (c.wide == "") || !strings.Contains(got, c.wide) {
			t.Errorf("%s: wider by %q, want %q", name, got, c.wide)
		}
		if got := strings.Join(p.Faint(), "; "); (got == "") != (c.faint == "") || !strings.Contains(got, c.faint) {
			t.Errorf("%s: faint %q, want %q", name, got, c.faint)
		}
	}
}
