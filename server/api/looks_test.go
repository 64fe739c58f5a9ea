package api

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/browser"
)

// TestPublicPages: each page fits a phone and a desktop, with and without JavaScript, and its text is readable in
// light and dark mode. The JavaScript reference is third-party, so only its width is checked.
func TestPublicPages(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	h := newPatientHouse(t, time.Minute)
	url := h.serve()
	token := h.want(200, "", request{method: "POST", path: "/space/v1/partner/entry-permits", token: "key_b", body: permitBody}).data()["entryToken"].(string)
	for name, look := range map[string]browser.Look{
		"phone": {Width: 390, Height: 844, Mobile: true, Language: "ko"}, "phone-dark": {Width: 390, Height: 844, Mobile: true, Dark: true},
		"phone-plain": {Width: 390, Height: 844, Mobile: true, NoScript: true}, "desk-dark-plain": {Dark: true, NoScript: true}, "desk": {}, "desk-dark": {Dark: true},
	} {
		p := b.Page(look)
		pages := []string{"/", "/entry", "/entry?t=none", "/entry?t=" + token, "/device/v1/docs"}
		if look.NoScript {
			pages = append(pages, "/core/v1/docs", "/space/v1/docs")
		}
		for _, path := range pages {
			ours := look.NoScript || !strings.HasSuffix(path, "/docs")
			p.Open(url + path)
			if !ours {
				p.Await(`document.querySelectorAll("#reference h1, #reference h2").length > 2`)
			}
			if wide := p.Wide(); wide != "" {
				t.Errorf("%s, %.20s is wider than the screen by %s", name, path, wide)
			}
			if faint := p.Faint(); ours && len(faint) > 0 {
				t.Errorf("%s, %.20s: texts of too little contrast: %q", name, path, faint)
			}
			snap(t, "public-"+name+map[string]string{"/": "-start", "/entry": "-no-link", "/entry?t=none": "-dead"}[path]+".png", p)
		}
	}
}
