package openapi

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/fail"
)

// Each request schema of one path refuses what it should.
func TestShape(t *testing.T) {
	t.Parallel()
	docs := must.Get(Load())(t)
	ops := map[string]*Operation{}
	for _, d := range docs {
		for _, op := range d.Ops {
			ops[op.ID] = op
		}
	}
	permit := `"externalRef":"a","phone":"01012345678","startsAt":"2026-10-05T01:00:00Z","endsAt":"2026-10-05T03:00:00Z"`
	for _, tt := range []struct{ op, body, code, field string }{
		{"createPermit", `{` + permit + `}`, "", ""},
		{"createPermit", `{` + permit + `,"name":null,"doorIds":null,"other":1}`, "", ""},
		{"createPermit", `{}`, fail.MissingField, "externalRef"},
		{"createPermit", `{"externalRef":null}`, fail.MissingField, "externalRef"},
		{"createPermit", `{"externalRef":1,"phone":"x"}`, fail.MissingField, "startsAt"},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"a"`, `""`, 1), fail.InvalidField, "externalRef"},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"a"`, `"`+strings.Repeat("가", 128)+`"`, 1), "", ""},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"a"`, `"`+strings.Repeat("가", 129)+`"`, 1), fail.InvalidField, "externalRef"},
		{"createPermit", strings.Replace(`{`+permit+`}`, "01012345678", "010-1234-5678", 1), fail.InvalidPhone, "phone"},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"01012345678"`, `1012345678`, 1), fail.InvalidPhone, "phone"},
		{"createPermit", strings.Replace(`{`+permit+`}`, "T01:00:00Z", "T01:00:00", 1), fail.InvalidTimestamp, "startsAt"},
		{"createPermit", `{` + permit + `,"doorIds":[]}`, fail.EmptyDoorIDs, "doorIds"},
		{"createPermit", `{` + permit + `,"doorIds":"x"}`, fail.InvalidDoorIDs, "doorIds"},
		{"createPermit", `{` + permit + `,"doorIds":["x",7]}`, fail.InvalidDoorIDs, "doorIds[1]"},
		{"updatePlace", `{"name":"x"}`, fail.PlaceFieldForbidden, "name"},
		{"updatePlace", `{"hours":5,"name":"x"}`, fail.PlaceFieldForbidden, "name"},
		{"updatePlace", `{"hours":{}}`, fail.MissingField, "hours.week"},
		{"updatePlace", `{"hours":{"week":{"moon":[]}}}`, fail.InvalidField, "hours.week.moon"},
		{"updatePlace", `{"hours":{"week":{"mon":[["09:00","25:00"]]}}}`, fail.InvalidField, "hours.week.mon[0][1]"},
		{"updatePlace", `{"hours":{"week":{"mon":[["09:00"]]}}}`, fail.InvalidField, "hours.week.mon[0]"},
		{"updatePlace", `{"hours":{"week":{"mon":[["09:00","24:00"]],"sun":[]}}}`, "", ""},
		{"commandDevice", `{"capability":"door","command":"door.open","args":null}`, "", ""},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":5.0}}`, "", ""},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":5.5}}`, fail.InvalidField, "args.minutes"},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":1441}}`, fail.InvalidField, "args.minutes"},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":"5"}}`, fail.InvalidField, "args.minutes"},
		{"commandDevice", `{"capability":"door","command":"jump"}`, fail.UnsupportedCommand, "command"},
		{"commandDevice", `{"capability":"light","command":"open"}`, fail.UnsupportedCommand, "capability"},
		{"commandDevice", `{"command":"open"}`, fail.MissingField, "capability"},
		{"setNetloss", `{"graceSec":1,"channels":{"1":"explode"}}`, fail.InvalidField, "channels.1"},
		{"setNetloss", `{"graceSec":604801,"channels":{}}`, fail.InvalidField, "graceSec"},
	} {
		o := must.Get(decode([]byte(tt.body), "application/json; charset=utf-8", false, false))(t)
		f := ops[tt.op].Body.shape.check(o)
		if f == nil {
			f = &flaw{}
		}
		if f.code != tt.code || f.path != tt.field {
			t.Errorf("%s %.80s: %s at %q, want %s at %q", tt.op, tt.body, f.code, f.path, tt.code, tt.field)
		}
	}
}

// Fields that the document doesn't name never reach a type: encoding/json alone would accept "Phone" for "phone".
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	b := &Body{shape: &shape{kind: "object", names: []string{"phone", "deep"}, props: map[string]*shape{
		"phone": {kind: "string", maxLen: 20}, "deep": {kind: "object", names: []string{"on"}, props: map[string]*shape{"on": {kind: "boolean"}}}}}}
	var got struct {
		Phone string
		Deep  struct{ On bool }
	}
	if err := b.Decode([]byte(`{"phone":"1","Phone":"2","deep":{"ON":true}}`), "", &got); err != nil || got.Phone != "1" || got.Deep.On {
		t.Errorf("got %+v, %v; want phone 1 and on false", got, err)
	}
}

// TestDaysInOrder: what is allowed in place of an unknown day is listed from Monday to Sunday.
func TestDaysInOrder(t *testing.T) {
	t.Parallel()
	s := &shape{closed: true, props: map[string]*shape{}}
	for _, day := range []string{"fri", "mon", "sat", "sun", "thu", "tue", "wed"} {
		s.props[day] = &shape{}
	}
	if got, want := s.checkExtra(map[string]any{"Mon": nil}).why, "is not allowed here, only mon, tue, wed, thu, fri, sat, sun"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
