package testbed

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/why"
)

// TestWhyOverAnOutage: a permit is revoked while its board is offline. The server and the board disagree, the
// explanation says so, and lists the person who entered.
func TestWhyOverAnOutage(t *testing.T) {
	t.Parallel()
	for name, onDemand := range map[string]bool{"in memory": false, "on disk": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whyOverAnOutage(t, onDemand)
		})
	}
}

// revokedInAnOutage: the permit "a" is revoked after 10 minutes, and 20 minutes later its person is at the door.
func revokedInAnOutage(t *testing.T, lab, api client.Client, board, door, phone string) {
	t.Helper()
	clienttest.Do(t, lab, "POST", "/lab/v1/faults", map[string]any{"fault": "offline", "boards": []string{board}}, nil)
	soon(t, "the server sees the line cut", func() bool {
		var device struct{ Health struct{ State string } }
		clienttest.Do(t, api, "GET", "/device/v1/devices/"+door, nil, &device)
		return device.Health.State == "offline"
	})
	clienttest.Do(t, lab, "POST", "/lab/v1/clock/advance", map[string]string{"by": "10m"}, nil)
	clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits/revoke", map[string]string{"externalRef": "a"}, nil)
	clienttest.Do(t, lab, "POST", "/lab/v1/clock/advance", map[string]string{"by": "20m"}, nil)
	clienttest.Do(t, lab, "POST", "/lab/v1/people/present", map[string]string{"doorId": door, "phone": phone}, nil)
}

func whyOverAnOutage(t *testing.T, onDemand bool) {
	tb := begin(t, Config{Virtual: true, OnDemand: onDemand, Recorded: onDemand})
	lab, place := tb.lab(), tb.cfg.World.Places[1]
	board, door := place.Boards[0].ID, place.Boards[0].Doors[0].ID
	const phone = "01012341234"
	do := func(c client.Client, method, path string, body, out any) {
		t.Helper()
		clienttest.Do(t, c, method, path, body, out)
	}

	api := partner(t, tb, 1)
	do(lab, "POST", "/lab/v1/clock/freeze", nil, nil)
	now := tb.clk.Now()
	var permit struct{ PermitID, URL, EntryToken string }
	do(api, "POST", "/space/v1/partner/entry-permits", map[string]any{"externalRef": "a", "phone": phone, "doorIds": []string{door},
		"startsAt": now.Format(time.RFC3339), "endsAt": now.Add(time.Hour * 72).Format(time.RFC3339)}, &permit)
	do(lab, "POST", "/lab/v1/clock/advance", map[string]string{"by": "1m"}, nil)
	var got struct {
		Person, Says, By string
		Exposure         []why.Exposed
		why.Answer
	}
	ask := func(q url.Values) {
		t.Helper()
		got.Exposure, got.Answer = nil, why.Answer{}
		q.Set("placeId", place.ID)
		q.Set("doorId", door)
		do(lab, "GET", "/lab/v1/why?"+q.Encode(), nil, &got)
		if text := got.Says + got.Person; strings.Contains(text, phone) || strings.Contains(text, permit.EntryToken) {
			t.Errorf("the answer names the person in full: %s", text)
		}
	}
	sides := func(server, board vocab.Reason) {
		t.Helper()
		if got.Server.Reason != server || got.Board.Reason != board || !got.Server.Known || !got.Board.Known {
			t.Errorf("got server %s (known %v), board %s (known %v), want %s and %s\n%s", got.Server.Reason, got.Server.Known, got.Board.Reason, got.Board.Known, server, board, got.Says)
		}
	}
	ask(url.Values{"phone": {"010-1234-1234"}})
	sides("phone", "onsite")
	if got.Server.GrantID == nil || *got.Server.GrantID != permit.PermitID || got.Person != "010-****-1234" {
		t.Errorf("got grant %v of %q, want %s of 010-****-1234", got.Server.GrantID, got.Person, permit.PermitID)
	}

	revokedInAnOutage(t, lab, api, board, door, phone)

	ask(url.Values{"phone": {phone}})
	sides("revoked", "onsite")
	if c := got.Copy; c.Online || c.BehindSec != 1200 || c.Revision >= c.ServerRevision || c.OutageAgeSec == nil || *c.OutageAgeSec != 1800 {
		t.Errorf("copy: got %+v, offline for %v s, want offline for 1,800 s and 1,200 s behind", c, *cmp.Or(c.OutageAgeSec, new(float64)))
	}
	if len(got.Attempts) != 1 || got.Attempts[0].Side != why.Board || got.Attempts[0].Result != "opened" {
		t.Errorf("attempts: got %+v, want the opening on site", got.Attempts)
	}
	if len(got.Exposure) != 1 || got.Exposure[0].Reason != "revoked" || got.Exposure[0].ExposedSec == nil || *got.Exposure[0].ExposedSec != 1200 || !got.Exposure[0].Offline {
		t.Errorf("exposure: got %+v, want one entry, 1,200 s after the revocation", got.Exposure)
	}
	ask(url.Values{"link": {permit.URL}})
	sides("link_invalid", "onsite")
	if got.Person != "010-****-1234" || got.By != "link" || got.Server.LinkOf == nil || *got.Server.LinkOf != permit.PermitID {
		t.Errorf("link: got %s of %s by %s, want %s of 010-****-1234 by link", got.Person, str(got.Server.LinkOf), got.By, permit.PermitID)
	}
	ask(url.Values{"phone": {phone}, "at": {now.Add(10 * time.Minute).Format(time.RFC3339)}}) // before the revocation
	sides("phone", "onsite")

	do(lab, "POST", "/lab/v1/faults/reset", nil, nil)
	do(lab, "POST", "/lab/v1/clock/advance", map[string]string{"by": "1m"}, nil)
	ask(url.Values{"phone": {phone}})
	sides("revoked", "revoked")
	var list []why.Exposed
	do(lab, "GET", "/lab/v1/exposure?placeId="+place.ID, nil, &list)
	if len(list) != 1 || list[0].Actor != "010-****-1234" {
		t.Errorf("exposure of the place, once the records are uploaded: got %+v, want one by 010-****-1234", list)
	}
}

func str(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// TestWhyRefuses: invalid questions get a 4xx that names the field.
func TestWhyRefuses(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{})
	door, place := tb.cfg.World.Places[1].Boards[0].Doors[0].ID, tb.cfg.World.Places[0].ID
	const noon = "2026-10-05T12:00:00Z"
	for query, want := range map[string]string{
		"why?doorId=" + door:                                         "missing_field",
		"why?phone=01011112222":                                      "missing_field",
		"why?doorId=" + door + "&phone=01011112222&link=x":           "invalid_field",
		"why?doorId=" + door + "&phone=lunch":                        "invalid_phone",
		"why?doorId=" + door + "&phone=01011112222&at=noon":          "invalid_timestamp",
		"why?doorId=dor_nope&phone=01011112222":                      "device_not_found",
		"why?doorId=" + door + "&phone=01011112222&placeId=" + place: "device_not_found",
		"why?doorId=" + door + "&journalSeq=0":                       "invalid_field",
		"why?doorId=" + door + "&journalSeq=1&at=" + noon:            "invalid_field",
		"why?doorId=" + door + "&journalSeq=99":                      "not_found",
		"why?doorId=" + door + "&journalSeq=99&grantId=gr":           "invalid_field",
		"exposure":                  "missing_field",
		"exposure?placeId=plc_nope": "place_not_found",
	} {
		err := tb.lab().Do(t.Context(), http.MethodGet, "/lab/v1/"+query, nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", query, err, want)
		}
	}
}

// TestWhyLongAfter: a permit that ended long ago, or that was registered with a period long past, isn't on the boards
// any more. The server still knows it, and the explanation says what the server says.
func TestWhyLongAfter(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true, OnDemand: true}) // the recording begins with the first question
	lab, place := tb.lab(), tb.cfg.World.Places[1]
	door := place.Boards[0].Doors[0].ID
	clienttest.Do(t, lab, "POST", "/lab/v1/clock/freeze", nil, nil)
	permits := map[string]time.Duration{"01011110001": 0, "01011110002": -100 * 24 * time.Hour} // when they begin
	links := map[string]string{}
	for phone, from := range permits {
		start := tb.clk.Now().Add(from)
		var out struct{ EntryToken string }
		clienttest.Do(t, partner(t, tb, 1), "POST", "/space/v1/partner/entry-permits", map[string]any{"externalRef": phone, "phone": phone,
			"startsAt": start.Format(time.RFC3339), "endsAt": start.Add(time.Hour).Format(time.RFC3339)}, &out)
		links[phone] = out.EntryToken
	}
	clienttest.Do(t, lab, "POST", "/lab/v1/clock/advance", map[string]string{"by": "10d"}, nil)
	for phone, link := range links {
		for name, q := range map[string]url.Values{"phone": {"phone": {phone}}, "link": {"link": {link}}} {
			q.Set("doorId", door)
			var got why.Answer
			clienttest.Do(t, lab, "GET", "/lab/v1/why?"+q.Encode(), nil, &got)
			if got.Server.Reason != vocab.Expired || got.Server.Allow {
				t.Errorf("%s of %s: the server says %s, want expired", name, phone, got.Server.Reason)
			}
		}
		var called struct{ Reason vocab.Reason }
		if clienttest.Do(t, lab, "POST", "/lab/v1/people/call", map[string]string{"to": place.EntryPhone, "from": phone}, &called); called.Reason != vocab.Expired {
			t.Errorf("a call of %s: %s, want expired", phone, called.Reason)
		}
	}
}

// TestExposureNamesNobodyElse: somebody enters by a permit that has been given to another phone since. Until the board's
// record arrives, nobody is named, least of all the new holder.
func TestExposureNamesNobodyElse(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	lab, api, place := tb.lab(), partner(t, tb, 1), tb.cfg.World.Places[1]
	board, door := place.Boards[0].ID, place.Boards[0].Doors[0].ID
	clienttest.Do(t, lab, "POST", "/lab/v1/clock/freeze", nil, nil)
	register := func(phone string) {
		t.Helper()
		clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits", map[string]any{"externalRef": "a", "phone": phone,
			"startsAt": tb.clk.Now().Format(time.RFC3339), "endsAt": tb.clk.Now().Add(time.Hour).Format(time.RFC3339)}, nil)
	}
	advance := func(by string) {
		t.Helper()
		clienttest.Do(t, lab, "POST", "/lab/v1/clock/advance", map[string]string{"by": by}, nil)
	}
	named := func(want string) {
		t.Helper()
		var list []why.Exposed
		if clienttest.Do(t, lab, "GET", "/lab/v1/exposure?placeId="+place.ID, nil, &list); len(list) != 1 || list[0].Actor != want {
			t.Errorf("got %+v, want one by %q", list, want)
		}
	}
	register("01011110001")
	advance("1m")
	clienttest.Do(t, lab, "POST", "/lab/v1/faults", map[string]any{"fault": "offline", "boards": []string{board}}, nil)
	advance("1m")
	register("01011110002")
	advance("1m")
	clienttest.Do(t, lab, "POST", "/lab/v1/people/present", map[string]string{"doorId": door, "phone": "01011110001"}, nil)
	named("")
	clienttest.Do(t, lab, "POST", "/lab/v1/faults/reset", nil, nil)
	advance("1m")
	named("010-****-0001")
}
