package history

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/doorlab/doorlab/internal/mask"
)

// CallIn is one HTTP request to the public API and its answer, as the client saw them.
type CallIn struct {
	Method, Path string // Path with its query
	PlaceID      string // of the key that the client meant to use, "" = unknown
	Token        string // the bearer token sent, "" = none
	From         string // the address it was sent from, "" = the machine's own
	SentAt       int64  // domain time, Unix ms
	SentNs       int64  // the machine's, Unix ns
	Request      []byte
	Status       int
	PlaceKind    string // X-Place-Kind of the answer
	Answer       []byte
	Replayed     bool // Idempotent-Replayed of the answer
	Leaks        int  // telephone numbers in the answer that only the client should know
	Own          bool // the client's own errand: no step of a scenario asked for it
}

// CallText is what a Call event carries as JSON: no secrets, only marks that stand for them.
type CallText struct {
	SentAt int64          `json:"sentAt"`
	SentNs int64          `json:"sentNs,omitempty"`
	From   string         `json:"from,omitempty"`
	Kind   string         `json:"kind,omitempty"`  // test or live
	Token  string         `json:"token,omitempty"` // Mark of the bearer token sent
	Parts  int            `json:"parts,omitempty"` // how many parts it has between dots, if it is long enough for a token; of an exchange, the token that it gave out
	Path   string         `json:"path,omitempty"`  // the id in the path
	Query  string         `json:"query,omitempty"`
	Replay bool           `json:"replayed,omitempty"`
	Leaks  int            `json:"leaks,omitempty"`
	Own    bool           `json:"own,omitempty"`
	In     map[string]any `json:"in,omitempty"`  // named fields of the request, secrets as marks
	Out    map[string]any `json:"out,omitempty"` // named fields of the answer's data, or of a failure
	Items  []any          `json:"items,omitempty"`
	Told   []any          `json:"told,omitempty"`    // records or events of a list
	Rows   []any          `json:"rows,omitempty"`    // of an import: its items, everything but the doors as marks
	Wrote  []any          `json:"results,omitempty"` // ... and the result of each
}

var (
	// pathID is an id as a world file may write it, too: world.Resolve allows hyphens and underscores.
	pathID  = regexp.MustCompile(`^(plc|brd|dor|pmt|mem|rsv|cus|pol|cmd|rec|evt|key)_[0-9A-Za-z_-]+$`)
	secrets = []string{"key", "t", "phone", "accessToken", "entryToken", "from", "to", "url", "token"}
	// kept are the fields that checkers read; everything else stays with the client.
	kept = []string{"externalRef", "permitId", "startsAt", "endsAt", "doorIds", "state", "revokedAt", "expiresIn", "scopes", "placeId", "result",
		"doorId", "hours", "received", "created", "updated", "unchanged", "failed", "reason", "detail", "graceSec", "channels", "timezone", "days", "source",
		"membershipId", "reservationId", "policyId", "window", "mode", "outcome", "commandId", "version", "answered", "rule", "deleted",
		"doorState", "online", "id", "index", "status", "error", "entryPermitMaxHours", "useCount", "firstUsedAt"}
)

// mostRows is how many rows an import may have for the history to keep them. Of a longer one it keeps how each row ended.
const mostRows = 1000

// CallEvent is the history's event for a request and its answer; without a status it is Unanswered.
func CallEvent(c CallIn) Event {
	path, query, _ := strings.Cut(c.Path, "?")
	e := Event{Kind: Call, Method: c.Method, PlaceID: c.PlaceID, Status: c.Status}
	if c.Status == 0 {
		e.Kind = Unanswered
	}
	t := CallText{SentAt: c.SentAt, SentNs: c.SentNs, From: c.From, Kind: c.PlaceKind, Token: mask.Mark(c.Token), Parts: tokenParts(c.Token), Query: markedQuery(query), Replay: c.Replayed, Leaks: c.Leaks, Own: c.Own}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if pathID.MatchString(p) {
			t.Path, parts[i] = p, "{id}"
		} else {
			parts[i] = markedPart(p)
		}
	}
	e.Route = strings.Join(parts, "/")
	t.In = pick(c.Request)
	if q, err := url.ParseQuery(query); err == nil && q.Has("t") { // an entry token
		t.Query, t.In = "", map[string]any{"t": mask.Mark(q.Get("t"))}
	}
	if len(c.Request) > 0 {
		e.BodyHash = mask.Mark(string(c.Request))
	}
	t.answer(&e, c)
	raw, err := json.Marshal(t)
	if err == nil { // plain values: cannot fail
		e.Text = string(raw)
	}
	return e
}

// shortestToken is the length from which a text may be a bearer token: shorter ones can't carry a signature.
const shortestToken = 32

func tokenParts(token string) int {
	if len(token) < shortestToken {
		return 0
	}
	return strings.Count(token, ".") + 1
}

// listed are the routes whose lists checkers read, and told those whose lists say what happened.
var (
	listed = regexp.MustCompile(`entry-permits$|/device/v1/(doors|boards|doors/\{id\}/policies)$`)
	told   = regexp.MustCompile(`/entry-logs$|/places/\{id\}/events$`)
)

// toldFields are what checkers read of a record or an event.
var toldFields = []string{"recordId", "eventId", "commandId", "result", "settledAs", "replays", "kind", "permitId", "late", "recordedAt", "doorId", "doorName",
	"reason", "method", "actor", "actorLabel", "externalRef"}

// answer adds the server's answer, and an import's rows.
func (t *CallText) answer(e *Event, c CallIn) {
	var env struct {
		Data    json.RawMessage `json:"data"`
		Error   string          `json:"error"`
		Details map[string]any  `json:"details"`
	}
	if json.Unmarshal(c.Answer, &env) != nil {
		return
	}
	e.Code = env.Error
	t.Out = pick(env.Data)
	var given struct {
		AccessToken string `json:"accessToken"`
	}
	if t.Token == "" && json.Unmarshal(env.Data, &given) == nil {
		t.Parts = tokenParts(given.AccessToken)
	}
	if env.Data == nil {
		t.Out = pick(c.Answer)
		for _, f := range []string{"rule", "maxHours", "requestedHours", "doorId", "invalid"} {
			if v := env.Details[f]; v != nil && t.Out != nil {
				t.Out[f] = marked(v)
			}
		}
	}
	if listed.MatchString(e.Route) {
		t.Items = each(env.Data)
	}
	if told.MatchString(e.Route) && c.Method == http.MethodGet {
		t.Told = rows(env.Data)
	}
	if strings.HasSuffix(e.Route, "/import") && env.Error == "" {
		t.rows(c.Request, env.Data)
	}
}

func (t *CallText) rows(request, data []byte) {
	var in struct {
		Items json.RawMessage `json:"items"`
	}
	var out struct {
		Results json.RawMessage `json:"results"`
	}
	if json.Unmarshal(request, &in) != nil || json.Unmarshal(data, &out) != nil {
		return
	}
	var list []any
	if json.Unmarshal(in.Items, &list) != nil || len(list) > mostRows { // too many: only what the counts can be held against
		for _, r := range each(out.Results) {
			m, _ := r.(map[string]any)
			t.Wrote = append(t.Wrote, map[string]any{"index": m["index"], "status": m["status"]})
		}
		return
	}
	for _, item := range list {
		row := map[string]any{}
		fields, _ := item.(map[string]any) // nil if it isn't an object, which fails
		for k, v := range fields {
			if s, ok := v.(string); ok && k != "startsAt" && k != "endsAt" {
				row[k] = mask.Mark(s)
			} else {
				row[k] = marked(v)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Wrote = each(out.Results)
}

// rows are the records or events of a list, without what is empty: there may be thousands of them.
func rows(raw []byte) (out []any) {
	var list []map[string]any
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, item := range list {
		row := map[string]any{}
		for _, k := range toldFields {
			if v := item[k]; v != nil && v != false && v != 0.0 {
				row[k] = v
			}
			if ref, ok := item[k].(string); ok && k == "externalRef" {
				row[k] = mask.Marked(ref) // as the request that gave it
			}
		}
		out = append(out, row)
	}
	return out
}

// each applies pick to every item of a list.
func each(raw []byte) (out []any) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, item := range list {
		out = append(out, pick(item))
	}
	return out
}

// pick keeps the fields of a JSON object that checkers read; of a list, only its length.
func pick(raw []byte) map[string]any {
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	out := map[string]any{}
	for _, k := range kept {
		if v, ok := all[k]; ok {
			out[k] = marked(v)
		}
	}
	for _, k := range secrets {
		s, ok := all[k].(string)
		if k == "from" && strings.Trim(s, "0123456789") != "" { // other forms of the number would have other marks, and couldn't be matched
			continue
		}
		if ok && s != "" {
			out[k] = mask.Mark(s)
		}
	}
	if args, ok := all["args"].(map[string]any); ok {
		if s, ok := args["reason"].(string); ok && strings.HasPrefix(s, "sim:") {
			out["sim"] = true
		}
	}
	if items, ok := all["items"].([]any); ok {
		out["items"] = len(items)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// PhonesIn counts the telephone numbers in a text that known accepts: 8 to 15 digits, also in groups with hyphens, spaces or
// dots between them. Other digits may stand beside them.
func PhonesIn(text []byte, known func(string) bool) (n int) {
	var digits []byte
	cuts := []int{0} // where groups begin and end among the digits
	end := func() {
		for i := 0; i+1 < len(cuts); i++ {
			for j := i + 1; j < len(cuts) && cuts[j]-cuts[i] <= 15; j++ {
				if cuts[j]-cuts[i] >= 8 && known(string(digits[cuts[i]:cuts[j]])) {
					n++
					i = j - 1
					break
				}
			}
		}
		digits, cuts = digits[:0], cuts[:1]
	}
	within := false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			if !within {
				cuts = append(cuts, 0)
			}
			digits, within = append(digits, c), true
			cuts[len(cuts)-1] = len(digits)
		case c == '-' || c == ' ' || c == '.':
			within = false
		default:
			end()
			within = false
		}
	}
	end()
	return n
}
