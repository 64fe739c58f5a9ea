package testbed

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
)

// TestWhyOfADenialAtAReader: a denial at a reader names no grant, yet the start page and the board's page lead to its
// reason, as things were at that moment: what was registered later, even within the same millisecond, doesn't count.
func TestWhyOfADenialAtAReader(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	board := tb.cfg.World.Places[1].Boards[0]
	door := board.Doors[0].ID
	const stranger = "01000009999"
	lab, api := tb.lab(), partner(t, tb, 1)
	clienttest.Do(t, lab, http.MethodPost, "/lab/v1/clock/freeze", nil, nil)
	present := func(who map[string]string) {
		who["doorId"] = door
		clienttest.Do(t, lab, http.MethodPost, "/lab/v1/people/present", who, nil)
	}
	present(map[string]string{"token": strings.Repeat("x", 43)})
	present(map[string]string{"phone": "01055554321"}) // nobody's: only the board's record says who it was
	present(map[string]string{"phone": stranger})
	now := tb.clk.Now()
	clienttest.Do(t, api, http.MethodPost, "/space/v1/partner/entry-permits", map[string]any{"externalRef": "late", "phone": stranger,
		"startsAt": now.Format(time.RFC3339), "endsAt": now.Add(time.Hour).Format(time.RFC3339)}, nil)

	words := map[string][]string{"en": {"this person has no grant here", "the link is unknown", "Somebody unknown at"}, "ko": {"출입 권한이 없는 사람", "모르는 링크", "알 수 없는 사람"}}
	for language, look := range map[string]browser.Look{"en": {Width: 1280, Height: 900}, "ko": {Width: 390, Height: 844, Mobile: true, Language: "ko"}} {
		p, want := b.Page(look), words[language]
		signIn(t, tb, p)
		why := func(path, list, row string) (text string) {
			t.Helper()
			p.Open(tb.Ready.Control + path)
			p.PressTo(`[...document.querySelectorAll("` + list + ` tbody tr")].filter(r => r.innerText.match(/` + row + `/))[0].querySelector("a[href^='/people']")`)
			p.Await(`document.getElementById("why")`)
			p.Eval(`document.getElementById("why").innerText + location.href`, &text)
			if strings.Contains(text, stranger) {
				t.Errorf("%s: the explanation shows the phone: %s", language, text)
			}
			fits(t, language+" explanation", p)
			snap(t, "console-why-"+language+".png", p)
			return text
		}
		if text := why("/", "#now\\\\.feed", "no_valid_grant|유효한 권한"); !strings.Contains(text, want[0]) || !strings.Contains(text, "010-****-9999") {
			t.Errorf("%s: the reason of the stranger's denial is %q, want %q and who it was", language, text, want[0])
		}
		if text := why("/", "#now\\\\.feed", "link_invalid|유효하지 않은 링크"); !strings.Contains(text, want[1]) || !strings.Contains(text, want[2]) {
			t.Errorf("%s: the reason of the unknown link's denial is %q, want %q of %q", language, text, want[1], want[2])
		}
		if text := why("/", "#now\\\\.feed", "4321"); !strings.Contains(text, want[0]) || !strings.Contains(text, "010-****-4321") {
			t.Errorf("%s: the reason of the denial of somebody without grants is %q, want %q and who it was", language, text, want[0])
		}
		if text := why("/boards/"+board.ID, "#board\\\\.journal", "deny|출입 거부"); !strings.Contains(text, want[0]) { // the newest line
			t.Errorf("%s: the reason of the journal's newest denial is %q, want %q", language, text, want[0])
		}
		clean(t, p, tb.Ready.Control)
	}
}
