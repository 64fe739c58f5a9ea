package inbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Where a masked value stands in a JSON text, by the name of its field.
var (
	maskedPhone = regexp.MustCompile(`("phone"\s*:\s*)"[^"]*(?:\*{4}|\[hidden\])[^"]*"`)
	maskedKey   = regexp.MustCompile(`("key"\s*:\s*)"[^"]*\[hidden\]"`)
	maskedToken = regexp.MustCompile(`("t"\s*:\s*)"\[hidden\]"`)
	maskedLink  = regexp.MustCompile(`([?&']t=)\[token\]`) // of a query or a form, in quotes
)

// fromEnv makes a shell insert a variable where a quoted text is masked.
func fromEnv(quoted string, masked *regexp.Regexp, name string) string {
	return masked.ReplaceAllString(quoted, `${1}'"$$`+name+`"'`)
}

// Curl is the request as a shell command, with base as the address. What is masked comes from the environment: TOKEN,
// KEY, PHONE, ENTRY_TOKEN. "" if the request is longer than what is kept.
func (e *Entry) Curl(base string) string {
	if e.Cut() {
		return ""
	}
	var b strings.Builder
	b.WriteString("curl -sS")
	switch {
	case e.Method == "HEAD" && e.Request == "":
		b.WriteString(" -I") // with -X, curl would wait for a body
	case e.Method != "GET" || e.Request != "":
		b.WriteString(" -X " + quote(e.Method)) // any token is a method, X|sh as well
	}
	fmt.Fprintf(&b, " %s", fromEnv(quote(base+e.Path), maskedLink, "ENTRY_TOKEN"))
	if e.Token != "" {
		b.WriteString(" \\\n  -H \"Authorization: Bearer $TOKEN\"")
	}
	if e.IdempotencyKey != "" {
		fmt.Fprintf(&b, " \\\n  -H %s", quote("Idempotency-Key: "+e.IdempotencyKey))
	}
	if e.Request != "" {
		if e.Type != "" {
			fmt.Fprintf(&b, " \\\n  -H %s", quote("Content-Type: "+e.Type))
		}
		body := quote(e.Request)
		for _, v := range []struct {
			re   *regexp.Regexp
			name string
		}{{maskedPhone, "PHONE"}, {maskedKey, "KEY"}, {maskedToken, "ENTRY_TOKEN"}} {
			body = v.re.ReplaceAllString(body, `${1}"'"$$`+v.name+`"'"`)
		}
		body = fromEnv(body, maskedLink, "ENTRY_TOKEN")
		fmt.Fprintf(&b, " \\\n  --data-raw %s", body)
	}
	return b.String()
}

// quote is a text as one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Site is where an entry's place, board and door are in the world: a scenario refers to doors by number, so that it
// plays in any world.
type Site struct {
	Kind    string // test or live
	PlaceID string
	Boards  []string
	Doors   []string // of all boards, in their order
}

// Step is the request as a scenario step that expects the same answer, and File a complete scenario around it. Both are
// "" if the request is longer than what is kept. Ids other than the place's own (a permit's, say) stay as they are.
func (e *Entry) Step(s Site) string {
	if e.Cut() {
		return ""
	}
	if step := e.commandStep(s); step != "" {
		return step
	}
	if isLink(e) {
		return e.linkStep(s)
	}
	lines := []string{"- call:"}
	add := func(name, value string) { lines = append(lines, "    "+name+": "+value) }
	add("method", yamlText(e.Method))
	switch {
	case strings.HasSuffix(e.Route, "/auth/apikey/token"), e.Token == "":
		add("token", `""`)
	default:
		add("place", "shop")
	}
	add("path", yamlText(s.names(literal(e.Path))))
	if e.IdempotencyKey != "" {
		add("headers", "{Idempotency-Key: "+yamlText(literal(e.IdempotencyKey))+"}")
	}
	if e.Request != "" {
		if json.Valid([]byte(e.Request)) {
			add("body", s.names(bodyNames(literal(e.Request))))
		} else {
			add("raw", yamlText(literal(e.Request)))
		}
	}
	return strings.Join(append(lines, e.expected("    ")...), "\n") + "\n"
}

// expected is the expected answer.
func (e *Entry) expected(indent string) []string {
	out := []string{fmt.Sprintf("%sstatus: %d", indent, e.Status)}
	if e.Code != "" {
		out = append(out, indent+"error: "+e.Code)
	}
	return out
}

// commandStep is a door command in the scenario language's own verb.
func (e *Entry) commandStep(s Site) string {
	i := slices.Index(s.Doors, e.DoorID)
	legacy, isLegacy := strings.CutPrefix(e.Route, "/device/v1/doors/{id}/")
	if i < 0 || e.Method != "POST" || e.IdempotencyKey == "" || !isLegacy && e.Route != "/device/v1/devices/{id}/commands" {
		return ""
	}
	var body struct {
		Capability string
		Command    string
		Minutes    *json.Number
		Args       struct {
			Minutes *json.Number
			Reason  *string
		}
	}
	if e.Request != "" && json.Unmarshal([]byte(e.Request), &body) != nil {
		return ""
	}
	if isLegacy {
		if body.Command, body.Args.Minutes = legacy, body.Minutes; legacy == "policies" {
			return ""
		}
	} else if body.Capability != "door" || e.Status == 400 { // its mistakes must survive
		return ""
	}
	lines := []string{"- command:", fmt.Sprintf("    door: shop.doors[%d]", i), "    command: " + yamlText(literal(body.Command)), "    key: " + yamlText(literal(e.IdempotencyKey))}
	if isLegacy {
		lines = append(lines, "    legacy: true")
	}
	if m := body.Args.Minutes; m != nil {
		lines = append(lines, "    minutes: "+m.String())
	}
	if r := body.Args.Reason; r != nil {
		lines = append(lines, "    reason: "+yamlText(literal(*r)))
	}
	return strings.Join(append(lines, e.expected("    ")...), "\n") + "\n"
}

// isLink reports whether a customer looked at the entry page or pressed a button on it.
func isLink(e *Entry) bool { return e.Customer && strings.HasPrefix(e.Route, "/entry") }

// linkStep has a guest of the scenario do it. Only a link that opens can be turned into a scenario; why another one
// didn't open depends on what came before.
func (e *Entry) linkStep(s Site) string {
	if e.Status != 200 {
		return ""
	}
	if e.Method == "GET" {
		return "- link: {person: guest, status: 200}\n"
	}
	i := slices.Index(s.Doors, e.DoorID)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("- link: {person: guest, door: \"shop.doors[%d]\", status: 200}\n", i)
}

// names replaces the place's ids by the scenario's names.
func (s Site) names(text string) string {
	var pairs []string
	for i, d := range s.Doors {
		pairs = append(pairs, d, fmt.Sprintf("${shop.doors[%d]}", i))
	}
	for i, b := range s.Boards {
		pairs = append(pairs, b, fmt.Sprintf("${shop.boards[%d]}", i))
	}
	return strings.NewReplacer(append(pairs, s.PlaceID, "${shop.place}")...).Replace(text)
}

// literal writes a text so that a scenario takes no part of it for a template.
func literal(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// bodyNames replaces what is masked by names.
func bodyNames(body string) string {
	body = maskedPhone.ReplaceAllString(body, `${1}"$${phone(\"guest\")}"`)
	return maskedKey.ReplaceAllString(body, `${1}"$${partner.apiKey}"`)
}

// yamlText is a text as a one-line YAML scalar: JSON is valid YAML.
func yamlText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// File is a whole scenario with the step.
func (e *Entry) File(s Site) string {
	step := e.Step(s)
	if step == "" {
		return ""
	}
	var b strings.Builder
	route := e.Route
	if !strings.HasPrefix(route, "/") { // no operation has the path
		route, _, _ = strings.Cut(e.Path, "?")
	}
	fmt.Fprintf(&b, "name: %s\nsetup:\n  - cohort: {name: shop, kind: %s, boards: 1}\n", yamlText(e.Method+" "+route+" answers "+fmt.Sprint(e.Status)), s.Kind)
	if strings.Contains(step, "${partner.") {
		b.WriteString("  - key: {name: partner, place: shop}\n")
	}
	if strings.Contains(step, "person: guest") {
		b.WriteString("  - permit: {person: guest, place: shop, doors: shop}\n")
	}
	b.WriteString("steps:\n")
	for line := range strings.Lines(step) {
		b.WriteString("  " + line)
	}
	return b.String()
}
