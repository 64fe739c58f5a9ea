package wire

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
)

func TestTopics(t *testing.T) {
	t.Parallel()
	for _, ch := range append(slices.Clone(Up), Down...) {
		id, got, ok := ParseTopic(Topic("brd_1", ch))
		if id != "brd_1" || got != ch || !ok {
			t.Errorf("the topic of channel %s of brd_1 parses as %q, %q, %v; want brd_1, the channel and true", ch, id, got, ok)
		}
	}
	for _, bad := range []string{"", "sac/v1/", "sac/v1/brd_1", "sac/v1/brd_1/", "sac/v1//cmd", "sac/v1/brd_1/cmd/x", "sac/v2/brd_1/cmd", "$share/g/sac/v1/brd_1/cmd", "/sac/v1/brd_1/cmd"} {
		if _, _, ok := ParseTopic(bad); ok {
			t.Errorf("%q parses as a topic, want it refused", bad)
		}
	}
}

func FuzzParseTopic(f *testing.F) {
	f.Add("sac/v1/brd_1/cmd")
	f.Add("sac/v1/+/#")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ch, ok := ParseTopic(s); ok && (Topic(id, ch) != s || strings.Contains(id, "/") || strings.Contains(ch, "/")) {
			t.Errorf("%q was split into %q and %q, want parts that make it again", s, id, ch)
		}
	})
}

// types are the payloads, by their names in docs/asyncapi.yaml.
var types = map[string]any{"Hello": Hello{}, "Partial": Partial{}, "Ack": Ack{}, "Command": Command{}, "Report": Report{}, "Standing": Standing{}, "State": State{},
	"Sync": Sync{}, "SyncAck": SyncAck{}, "Digest": Digest{}, "Netloss": Netloss{}, "Config": Config{}, "Record": Record{}, "Records": Records{},
	"DoorConfig": DoorConfig{}, "Grant": access.Grant{}, "Window": access.Window{}, "Hours": access.Hours{}}

func fields(v any) (names []string) {
	for f := range reflect.TypeOf(v).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile("../../docs/" + name))(t)
	return b
}

// TestAsyncAPIIsValid: the document fits the AsyncAPI 3.0.0 schema as published by its authors (testdata, from
// @asyncapi/specs 6.11.1, Apache-2.0), and an invalid document is noticed.
func TestAsyncAPIIsValid(t *testing.T) {
	t.Parallel()
	f := must.Get(os.Open("testdata/asyncapi-3.0.0.json.gz"))(t)
	defer f.Close()
	z := must.Get(gzip.NewReader(f))(t)
	raw := must.Get(jsonschema.UnmarshalJSON(z))(t)
	const at = "http://asyncapi.com/definitions/3.0.0/asyncapi.json"
	c := jsonschema.NewCompiler()
	must.OK(t, c.AddResource(at, raw))
	schema := must.Get(c.Compile(at))(t)
	good := string(read(t, "asyncapi.yaml"))
	for text, valid := range map[string]bool{
		good: true,
		strings.Replace(good, "asyncapi: 3.0.0", "asyncapi: 2.6.0", 1):         false,
		strings.Replace(good, "action: send", "action: publish", 1):            false,
		strings.Replace(good, "host: ", "url: ", 1):                            false,
		strings.Replace(good, "type: userPassword", "type: password", 1):       false,
		strings.Replace(good, "type: integer, const", "type: whole, const", 1): false,
	} {
		b := must.Get(yaml.YAMLToJSON([]byte(text)))(t)
		doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(b)))(t)
		if err := schema.Validate(doc); (err == nil) != valid {
			t.Errorf("valid: %v, want %v; %v", err == nil, valid, err)
		}
	}
}

// TestAsyncAPI: every channel in its direction, every field of every payload, and no other.
func TestAsyncAPI(t *testing.T) {
	t.Parallel()
	type ref struct {
		To string `yaml:"$ref"`
	}
	var doc struct {
		Channels map[string]struct {
			Address  string
			Messages map[string]ref
		}
		Operations map[string]struct {
			Action   string
			Channel  ref
			Messages []ref
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	must.OK(t, yaml.Unmarshal(read(t, "asyncapi.yaml"), &doc))
	var up, down []string
	for op, o := range doc.Operations {
		ch := doc.Channels[strings.TrimPrefix(o.Channel.To, "#/channels/")]
		id, name, ok := ParseTopic(ch.Address)
		if !ok || id != "{boardId}" {
			t.Errorf("%s: %q isn't a topic with {boardId}", op, ch.Address)
		}
		for _, m := range o.Messages {
			if in, name, _ := strings.Cut(m.To, "/messages/"); in != o.Channel.To || ch.Messages[name].To == "" {
				t.Errorf("%s: %s isn't a message of %s", op, m.To, o.Channel.To)
			}
		}
		switch o.Action {
		case "receive":
			up = append(up, name)
		case "send":
			down = append(down, name)
		}
	}
	same := func(what string, got, want []string) {
		t.Helper()
		got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	same("up", up, Up)
	same("down", down, Down)
	for name, v := range types {
		same(name, slices.Collect(maps.Keys(doc.Components.Schemas[name].Properties)), fields(v))
	}
}

// TestPage: docs/board-protocol.md names every channel and field, and its examples are valid messages.
func TestPage(t *testing.T) {
	t.Parallel()
	page := string(read(t, "board-protocol.md"))
	for _, ch := range append(slices.Clone(Up), Down...) {
		if !strings.Contains(page, "`"+ch+"`") {
			t.Errorf("the page lacks channel %s", ch)
		}
	}
	for name, v := range types {
		for _, f := range fields(v) {
			if !regexp.MustCompile("[`\"]" + f + "[`\":]").MatchString(page) {
				t.Errorf("the page lacks %s.%s", name, f)
			}
		}
	}
	known := []any{&Hello{}, &Ack{}, &Command{}, &Report{}, &Sync{}, &Config{}, &SyncAck{}, &Records{}}
	examples := 0
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for d := json.NewDecoder(strings.NewReader(block[1])); d.More(); {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				t.Fatalf("%v in %s", err, block[1])
			}
			examples++
			if !slices.ContainsFunc(known, func(v any) bool {
				strict := json.NewDecoder(bytes.NewReader(raw))
				strict.DisallowUnknownFields()
				return strict.Decode(v) == nil
			}) {
				t.Errorf("not one of our messages: %s", raw)
			}
		}
	}
	if examples < 8 {
		t.Errorf("got %d examples, want at least 8", examples)
	}
}

// TestDigestFromBytes: the digest can be computed from the bytes of a sync message as the page describes, without
// knowing our types.
func TestDigestFromBytes(t *testing.T) {
	t.Parallel()
	y := Sync{To: 3, Snapshot: true, Timezone: "Asia/Seoul",
		Upsert:  []access.Grant{{ID: "pmt_1", Kind: "permit", Doors: []string{"dor_<1>"}, StartsAt: 5}, {ID: "pmt_2", Revoked: true}},
		Windows: &[]access.Window{{ID: "pol_1", Ref: "custom", Mode: "free", Week: access.Week{"tue": {{"09:00", "10:00"}}, "mon": nil}}},
		Hours:   &access.Hours{Timezone: "Asia/Seoul", Week: access.Week{"sun": {{"09:00", "24:00"}}}, Closures: []access.Closure{{Name: "R&D \u2028"}}},
		Doors:   &[]DoorConfig{{"brd_1", "dor_1", 1}, {"brd_2", "dor_2", 1}}}
	var sum access.Sum
	for _, g := range y.Upsert {
		sum.Toggle("grant", g)
	}
	sum.Toggle("window", (*y.Windows)[0])
	sum.Toggle("hours", *y.Hours)
	for _, d := range *y.Doors {
		sum.Toggle("door", d)
	}
	message := must.Get(json.Marshal(y))(t)
	var raw struct {
		Upsert, Windows, Doors []json.RawMessage
		Hours                  json.RawMessage
	}
	must.OK(t, json.Unmarshal(message, &raw))
	got := make([]byte, 16)
	add := func(kind string, items ...json.RawMessage) {
		for _, it := range items {
			h := sha256.Sum256([]byte(kind + "\n" + string(it)))
			for i := range got {
				got[i] ^= h[i]
			}
		}
	}
	add("grant", raw.Upsert...)
	add("window", raw.Windows...)
	add("door", raw.Doors...)
	add("hours", raw.Hours)
	if hex.EncodeToString(got) != sum.String() {
		t.Errorf("%x, want %s", got, sum)
	}
}
