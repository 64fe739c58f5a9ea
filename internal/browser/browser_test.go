package browser

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const testPage = `<!doctype html><html><head><meta name="viewport" content="width=device-width"><title>t</title></head><body>
<form action="/next" method="post"><input name="a" id="a"><button>Go</button></form>
<p id="js">no</p><script>document.getElementById("js").textContent = "yes"; setTimeout(() => document.body.dataset.late = "1", 5)</script>
<img src="http://foreign.invalid/x.png"></body></html>`

func testServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/strict" {
			w.Header().Set("Content-Security-Policy", "default-src 'none'")
		}
		if r.Method == http.MethodPost {
			_, _ = w.Write([]byte("<title>next</title>" + r.FormValue("a") + " " + r.Header.Get("Accept-Language")))
			return
		}
		_, _ = w.Write([]byte(testPage))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The browser helper is tested before it is used: it must press buttons, read text, and notice requests to other
// hosts and violations of the content security policy.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b, url := Start(t), testServer(t)
	p := b.Page(Look{Width: 390, Height: 844, Mobile: true, Language: "ko"})
	p.Open(url + "/")
	p.Await(`document.body.dataset.late === "1"`)
	foreign := func(r Request) bool { return strings.HasPrefix(r.URL, "http://foreign.invalid/") }
	if !slices.ContainsFunc(p.Requests(), foreign) {
		t.Errorf("no foreign request noticed in %+v, want one", p.Requests())
	}
	img, err := png.DecodeConfig(bytes.NewReader(p.Picture()))
	if err != nil || img.Width != 390 || img.Height != 844 {
		t.Errorf("picture %dx%d, %v, want 390, 844 and no error", img.Width, img.Height, err)
	}
	p.Press(`document.getElementById("a")`)
	p.Type("열기")
	p.PressTo(`document.querySelector("button")`)
	var text string
	p.Eval(`document.body.textContent`, &text)
	if text != "열기 ko" {
		t.Errorf("the page says %q after the press, want %q", text, "열기 ko")
	}

	p = b.Page(Look{NoScript: true})
	p.Open(url + "/strict")
	p.Eval(`document.getElementById("js").textContent`, &text)
	if text != "no" {
		t.Errorf("a script ran: got %q, want no", text)
	}
	if said := strings.Join(p.Console(), "\n"); !strings.Contains(said, "Content Security Policy") {
		t.Errorf("console: got %q, want %q in it", said, "Content Security Policy")
	}
}
