package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// manyPeople is a console of one place with 5,000 permits, whose recording can't be read. read returns what was asked of
// the control API besides the grants.
func manyPeople(t *testing.T) (c *Console, read func() []string) {
	t.Helper()
	c, _ = newTestConsole(t)
	c.cfg.World = &world.World{Places: []world.Place{{ID: "plc_1", Name: "Here"}}}
	var mu sync.Mutex
	var asked []string
	c.cfg.Lab = control.Handler(token, func(r chi.Router) {
		r.Get("/grants", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("kind") != "permit" {
				control.List(w, []control.Grant{}, 0)
				return
			}
			control.List(w, slices.Repeat([]control.Grant{{GrantID: "pmt_1", Kind: "permit", Name: "Ann", State: "active"}}, 100), 5000)
		})
		note := func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, strings.TrimPrefix(r.URL.Path, control.Prefix)+" "+r.URL.Query().Get("phone")+r.URL.Query().Get("link")+r.URL.Query().Get("grantId"))
			control.Fail(w, http.StatusInternalServerError, "internal_error", "the recording is gone", nil)
		}
		r.Get("/exposure", note)
		r.Get("/why", note)
	})
	return c, func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { asked = nil }()
		return asked
	}
}

// TestPeopleWithoutRecording: the page says how many grants there are, lets people be tried although the recording can't
// be read, and says that it can't.
func TestPeopleWithoutRecording(t *testing.T) {
	t.Parallel()
	c, _ := manyPeople(t)
	got := c.ask(ask{method: http.MethodGet, path: "/people", in: true})
	for _, want := range []string{"Grants: 100 of 5,000", "the recording is gone", `value="present"`} {
		if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), want) {
			t.Errorf("the page, %d, lacks %q", got.Code, want)
		}
	}
}

// TestPeopleStream: keeping the page up to date asks only for what is kept up to date, the grants, and never for the
// recording.
func TestPeopleStream(t *testing.T) {
	t.Parallel()
	c, read := manyPeople(t)
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8081/people?door=dor_1&grant=pmt_1", http.NoBody))(t)
	r.Header.Set("Accept", "text/event-stream")
	parts, err := c.parts(r, Page{View: c.people, Parts: []string{"people.grants"}})
	if got := read(); err != nil || len(got) > 0 || !strings.Contains(parts["people.grants"], "Grants: 100 of 5,000") {
		t.Errorf("a stream's rendering asked for %q, %v: %.80s; want only the grants", got, err, parts["people.grants"])
	}
}

// TestWhyIsntAnAddress: a phone or a link that is asked about, with or without its hyphens and its host, is in no address
// and not in the page; a grant may be.
func TestWhyIsntAnAddress(t *testing.T) {
	t.Parallel()
	c, read := manyPeople(t)
	for person, want := range map[string]string{"010-1234-5678": "/why 01012345678", "http://x/entry?t=abcdefgh": "/why abcdefgh"} {
		got := c.ask(ask{method: http.MethodPost, path: "/people?place=plc_1", form: url.Values{"do": {"explain"}, "form": {c.session.form}, "person": {person}, "door": {"dor_1"}}, in: true})
		if asked := read(); !slices.Contains(asked, want) || got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "Grants: 100") || strings.Contains(got.Body.String(), person) {
			t.Errorf("%s: %d, asked %q; want the page without it, and %q", person, got.Code, asked, want)
		}
		c.ask(ask{method: http.MethodGet, path: "/people?person=" + url.QueryEscape(person), in: true})
		if asked := read(); slices.Contains(asked, want) {
			t.Errorf("%s in an address: asked %q, want it ignored", person, asked)
		}
	}
	c.ask(ask{method: http.MethodGet, path: "/people?door=dor_1&grant=pmt_1", in: true})
	if asked := read(); !slices.Contains(asked, "/why pmt_1") {
		t.Errorf("asked %q, want about the grant", asked)
	}
}

// TestDoorFor: a grant is tried at the chosen door, or at one for which it is good if none was chosen.
func TestDoorFor(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		picked bool
		doors  []string
		want   string
	}{{false, nil, "dor_1"}, {false, []string{"dor_2"}, "dor_2"}, {false, []string{"dor_2", "dor_1"}, "dor_1"}, {true, []string{"dor_2"}, "dor_1"}} {
		v := peopleView{Door: "dor_1", Picked: x.picked}
		if got := v.DoorFor(personGrant{control.Grant{DoorIDs: x.doors}}); got != x.want {
			t.Errorf("picked %v, good for %q: got %s, want %s", x.picked, x.doors, got, x.want)
		}
	}
}
