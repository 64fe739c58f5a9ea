package grant_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

func file(source string, rows ...string) grant.ImportRequest {
	r := grant.ImportRequest{Source: &source, Items: []json.RawMessage{}}
	for _, row := range rows {
		r.Items = append(r.Items, json.RawMessage(row))
	}
	return r
}

// line shows a result as "created/updated/unchanged/failed: status or code per row".
func line(r grant.ImportResult) string {
	out := fmt.Sprintf("%d/%d/%d/%d:", r.Created, r.Updated, r.Unchanged, r.Failed)
	for i, x := range r.Results {
		if x.Index != i || (x.ID == "") != (x.Status == grant.Failed) {
			out += "!"
		}
		if x.Status == grant.Failed {
			x.Status = x.Error
		}
		out += " " + x.Status
	}
	return out
}

func TestImportEnvelope(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	row := `{"phone":"01012345678"}`
	for name, tt := range map[string]struct {
		r    grant.ImportRequest
		want string
	}{
		"no source":     {grant.ImportRequest{Items: []json.RawMessage{[]byte(row)}}, fail.MissingField},
		"empty":         {file("", row), fail.InvalidField},
		"long source":   {file(strings.Repeat("x", 65), row), fail.InvalidField},
		"no items":      {grant.ImportRequest{Source: new("s")}, fail.MissingField},
		"empty items":   {file("s"), fail.InvalidField},
		"operators own": {file("api", row), fail.InvalidField},
		"world file":    {file("world", row), fail.InvalidField},
		"too many":      {file("s", strings.Split(strings.Repeat(row+"\n", 5001)[:5001*(len(row)+1)-1], "\n")...), fail.InvalidField},
	} {
		if _, err := h.ImportCustomers(byA, tt.r); fail.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

func TestImportCustomers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rows := []string{
		`{"externalRef":"1","phone":"01011110001","name":"A"}`,
		`{"phone":"01011110002"}`,
		`null`, `[]`, `{}`, `{"phone":1}`, `{"phone":"x"}`, `{"phone":"01011110003","name":5}`, `{"externalRef":"","phone":"01011110003"}`,
		`{"externalRef":"1","phone":"01011110001","name":"B","unknown":{}}`,
		`{"phone":"01011110002","name":null}`,
	}
	const bad = "invalid_field invalid_field missing_field invalid_phone invalid_phone invalid_field invalid_field"
	got, err := h.ImportCustomers(byA, file("crm", rows...))
	if want := "2/1/1/7: created created " + bad + " updated unchanged"; err != nil || line(got) != want || got.Received != 11 || got.Results[9].ExternalRef != "1" {
		t.Errorf("got %s, %v, want %s", line(got), err, want)
	}
	if got, want := got.Results[5].Message, "phone must be a string of digits, in quotes"; got != want {
		t.Errorf("a phone that is a number: got %q, want %q", got, want)
	}
	got, _ = h.ImportCustomers(byA, file("crm", rows[9], rows[10]))
	if want := "0/0/2/0: unchanged unchanged"; line(got) != want {
		t.Errorf("the same again: got %s, want %s", line(got), want)
	}
	if got, _ := h.ImportCustomers(byA, file("other", rows[0])); line(got) != "1/0/0/0: created" {
		t.Errorf("another source: got %s, want 1/0/0/0: created", line(got))
	}
	list, total, err := h.Service.ListCustomers("plc_a", grant.ListQuery{})
	list = slices.DeleteFunc(list, func(c grant.Customer) bool { return c.Phone != "01011110001" })
	if err != nil || total != 3 || len(list) != 2 || list[0].Source != "other" || list[1].Name != "B" {
		t.Errorf(`got %+v, %v, want no error, total = 3, list[0].Source = "other", list[1].Name = "B"`, list, err)
	}
}

// A row with a reference takes over an existing customer with its phone and no reference; importing the same file
// again creates nobody.
func TestImportTakesOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	bare, named, other := `{"phone":"01011110001","name":"A"}`, `{"externalRef":"1","phone":"01011110001","name":"A"}`, `{"externalRef":"2","phone":"01011110001","name":"A"}`
	first, err := h.ImportCustomers(byA, file("crm", bare, named, other))
	if want := "2/1/0/0: created updated created"; err != nil || line(first) != want {
		t.Errorf("got %s, %v, want %s", line(first), err, want)
	}
	if a, b := first.Results[0].ID, first.Results[1].ID; a != b {
		t.Errorf("the row with the reference made %s, want %s", b, a)
	}
	if got, _ := h.ImportCustomers(byA, file("crm", bare, named, other)); line(got) != "0/0/3/0: unchanged unchanged unchanged" {
		t.Errorf("the same again: got %s, want all unchanged", line(got))
	}
	list, total, _ := h.Service.ListCustomers("plc_a", grant.ListQuery{ExternalRef: "1"})
	if total != 1 || list[0].ID != first.Results[0].ID {
		t.Errorf("got %d customers of the reference: %+v, want 1", total, list)
	}
}

// A file that contradicts itself: a phone without a reference, a reference for it, another phone for the reference. The
// last row fails, else the same file again would create the first row's customer once more.
func TestImportContradiction(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rows := []string{`{"phone":"01011110001"}`, `{"externalRef":"1","phone":"01011110001"}`, `{"externalRef":"1","phone":"01011110002"}`,
		`{"externalRef":"2","phone":"01011110003"}`, `{"externalRef":"2","phone":"01011110004"}`}
	for i, want := range []string{"2/2/0/1: created updated rule_violated created updated", "0/2/2/1: unchanged unchanged rule_violated updated updated"} {
		if got, err := h.ImportCustomers(byA, file("crm", rows...)); err != nil || line(got) != want {
			t.Errorf("time %d: got %s, %v, want %s", i+1, line(got), err, want)
		}
	}
	if got, _ := h.ImportCustomers(byA, file("crm", rows[2])); line(got) != "0/1/0/0: updated" {
		t.Errorf("in a file of its own: got %s, want updated", line(got))
	}
}

func TestImportMemberships(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rows := []string{
		`{"externalRef":"m1","phone":"01011110001","name":"A","startsAt":"2026-11-01T00:00:00+09:00"}`,
		`{"phone":"01011110002","startsAt":"2026-11-01T00:00:00Z","endsAt":"2028-11-01T00:00:00Z","doorIds":["dor_in"]}`,
		`{"phone":"01011110003"}`,
		`{"phone":"01011110003","startsAt":"2026-11-01"}`,
		`{"phone":"01011110003","startsAt":7}`,
		`{"phone":"01011110003","startsAt":"2026-11-01T00:00:00Z","endsAt":"2026-11-01T00:00:00Z"}`,
		`{"phone":"01011110003","startsAt":"2026-11-01T00:00:00Z","doorIds":[]}`,
		`{"phone":"01011110003","startsAt":"2026-11-01T00:00:00Z","doorIds":["dor_b"]}`,
		`{"phone":"01011110003","startsAt":"2026-11-01T00:00:00Z","doorIds":[null]}`,
		`{"phone":"01011110003","startsAt":"2026-11-01T00:00:00Z","doorIds":"dor_1"}`,
	}
	got, err := h.ImportMemberships(byA, file("crm", rows...))
	if want := "2/0/0/8: created created missing_field invalid_timestamp invalid_timestamp invalid_period empty_door_ids invalid_door_ids invalid_door_ids invalid_door_ids"; err != nil || line(got) != want {
		t.Errorf("got %s, %v, want %s and no error", line(got), err, want)
	}
	rev := h.Digest("plc_a")
	if got, _ := h.ImportMemberships(byA, file("crm", rows[:2]...)); line(got) != "0/0/2/0: unchanged unchanged" || h.Digest("plc_a") != rev {
		t.Errorf("the same again: got %s, want 0/0/2/0 and the content unchanged", line(got))
	}
	if got, _ := h.ImportMemberships(byA, file("crm", strings.Replace(rows[0], "01011110001", "01011110009", 1))); line(got) != "0/1/0/0: updated" {
		t.Errorf("a new phone: got %s, want 0/1/0/0: updated", line(got))
	}
	if _, total, _ := h.Service.ListCustomers("plc_a", grant.ListQuery{}); total != 3 {
		t.Errorf("%d customers, want one a phone", total)
	}
	ms, total, err := h.ListTerms("plc_a", grant.Membership, grant.ListQuery{})
	if err != nil || total != 2 {
		t.Fatalf("got %d, %v, want no error, total = 2", total, err)
	}
	if d := cmp.Diff([]string{"dor_in"}, ms[0].Doors); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if m := ms[1]; m.State != grant.Active || !m.EndsAt.IsZero() || m.Phone != "01011110009" || len(m.Doors) != 2 {
		t.Errorf(`got %+v, want m.State = grant.Active, m.EndsAt unset, m.Phone = "01011110009", len(m.Doors) = 2`, m)
	}
}

// TestImportLarge: 5,000 rows, some wrong, imported in reasonable time with one customer each.
func TestImportLarge(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var rows []string
	for i := range 5000 {
		rows = append(rows, fmt.Sprintf(`{"externalRef":"%d","phone":"010%08d","startsAt":"2026-11-01T00:00:00Z"}`, i, i))
	}
	rows[77] = `{}`
	got, err := h.ImportMemberships(byA, file("crm", rows...))
	if err != nil || got.Created != 4999 || got.Failed != 1 || len(got.Results) != 5000 || got.Results[77].Status != grant.Failed {
		t.Errorf("%d created, %d failed, %v; want 4999, and row 78 failed", got.Created, got.Failed, err)
	}
	h.Digest("plc_a")
}

func TestTerms(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := grant.TermRequest{ExternalRef: new("r"), Phone: new("01012345678"), StartsAt: new(epoch.Add(time.Hour)), EndsAt: new(epoch.Add(9000 * time.Hour))}
	a, err := h.CreateTerm(byA, grant.Reservation, r)
	if err != nil || a.Kind != access.KindReservation || a.State != grant.Pending || len(a.Doors) != 2 || a.TokenHash != "" {
		t.Fatalf(`got %+v, %v, want no error, a.Kind = access.KindReservation, a.State = grant.Pending, len(a.Doors) = 2, a.TokenHash = ""`, a, err)
	}
	if again, err := h.CreateTerm(byA, grant.Reservation, r); err != nil || again.ID != a.ID {
		t.Errorf("got %+v, %v, want no error, again.ID = a.ID", again, err)
	}
	if m, err := h.CreateTerm(byA, grant.Membership, r); err != nil || m.ID == a.ID {
		t.Errorf("a membership with the same reference: got %+v, %v, want a different grant", m, err)
	}
	r.ExternalRef = nil
	if b, err := h.CreateTerm(byA, grant.Reservation, r); err != nil || b.ID == a.ID {
		t.Errorf("without a reference: got %+v, %v, want a different grant", b, err)
	}
	c, err := h.CancelTerm(byA, grant.Reservation, a.ID)
	if err != nil || c.State != grant.Cancelled || !c.RevokedAt.Equal(epoch) {
		t.Errorf("got %+v, %v, want no error, c.State = grant.Cancelled, c.RevokedAt at epoch", c, err)
	}
	h.Pass(time.Hour)
	if again, err := h.CancelTerm(byA, grant.Reservation, a.ID); err != nil || !again.RevokedAt.Equal(epoch) {
		t.Errorf("got %+v, %v, want no error, again.RevokedAt at epoch", again, err)
	}
	if _, err := h.CancelTerm(byA, grant.Membership, a.ID); fail.CodeOf(err) != fail.NotFound {
		t.Errorf("of another kind: got %v, want code %q", err, fail.NotFound)
	}
	if _, err := h.CancelTerm(record.By{PlaceID: "plc_b"}, grant.Reservation, a.ID); fail.CodeOf(err) != fail.NotFound {
		t.Errorf("of another place: got %v, want code %q", err, fail.NotFound)
	}
	r.ExternalRef = new("r")
	if back, err := h.CreateTerm(byA, grant.Reservation, r); err != nil || back.ID != a.ID || back.State != grant.Active || !back.RevokedAt.IsZero() {
		t.Errorf("made again: got %+v, %v, want ID %v, State %v, RevokedAt zero and no error", back, err, a.ID, grant.Active)
	}
	if list, total, err := h.ListTerms("plc_a", grant.Reservation, grant.ListQuery{}); err != nil || total != 2 || list[1].ID != a.ID {
		t.Errorf("got %+v, %v, want no error, total = 2, list[1].ID = a.ID", list, err)
	}
	for want, r := range map[string]grant.TermRequest{
		fail.MissingField:   {Phone: new("01012345678")},
		fail.InvalidPhone:   {Phone: new("x"), StartsAt: &epoch},
		fail.InvalidPeriod:  {Phone: new("01012345678"), StartsAt: &epoch, EndsAt: &epoch},
		fail.InvalidField:   {Phone: new("01012345678"), StartsAt: &epoch, ExternalRef: new("")},
		fail.InvalidDoorIDs: {Phone: new("01012345678"), StartsAt: &epoch, DoorIDs: []string{"dor_b"}},
	} {
		if _, err := h.CreateTerm(byA, grant.Reservation, r); fail.CodeOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestNamesShowWhatTheyAre: names can't contain control characters or anything that reverses the text.
func TestNamesShowWhatTheyAre(t *testing.T) {
	t.Parallel()
	for field, r := range map[string]grant.RegisterRequest{
		"name":        {ExternalRef: new("r"), Phone: new("01012345678"), Name: new("Kim \u202egnp.exe")},
		"externalRef": {ExternalRef: new("r\r\nX: y"), Phone: new("01012345678")},
	} {
		_, err := newHouse(t).Register(byA, r)
		var f *fail.Error
		if !errors.As(err, &f) || f.Code != fail.InvalidField || f.Details["field"] != field {
			t.Errorf("%s: %v, want invalid_field", field, err)
		}
	}
}

// TestImportAudited: an import is in the audit log once, however many rows it has, and with its first rows.
func TestImportAudited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rows := make([]string, 120)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"phone":"0101234%04d"}`, i)
	}
	must.Get(h.ImportCustomers(byA, file("crm", rows...)))(t)
	must.Get(h.ImportMemberships(byA, file("01012345678", `{"phone":"no"}`)))(t)
	list, n, err := h.Audits("plc_a", 10, 0)
	if err != nil || n != 2 || list[0].Action != "import.memberships" || list[0].Count != 1 || list[0].Detail != "source=010-****-5678" || list[1].Action != "import.customers" || list[1].Count != 120 ||
		list[1].KeyID != "key_a" || list[1].Detail != "source=crm" {
		t.Errorf("audit log %+v, %v, want one row for each of the two imports", list, err)
	}
}
