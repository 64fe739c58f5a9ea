package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Extensions by which our documents name an operation's scope, without which it promises no manners, and the path that
// succeeds a deprecated one.
const (
	scopeOf     = "x-required-scope"
	successorOf = "x-successor"
)

// Manners checks what every answer of an operation has, whatever it is about: the headers of docs/decisions.md and, for
// a list, its order and its total. Header names are canonical. It promises nothing about paths and methods that no
// document has. Safe for concurrent use.
func (c *Contract) Manners(method, path string, status int, header map[string]string, body []byte) error {
	if c == nil {
		return nil
	}
	op := c.find(method, path)
	if op == nil {
		return nil
	}
	scope, ours := op.Extensions[scopeOf].(string)
	if !ours {
		return nil
	}
	err := headersOf(op, scope, status, header, body)
	if err == nil {
		err = successorIn(op, path, header["Link"])
	}
	if err == nil {
		err = envelopeOf(op, status, header, body)
	}
	if err == nil {
		err = pageOf(path, header)
	}
	if err == nil && status == 200 {
		err = listOf(op, path, body)
	}
	if err != nil {
		return fmt.Errorf("%s %s was answered with %d: %w", method, hide(path), status, err)
	}
	return nil
}

func headersOf(op *openapi3.Operation, scope string, status int, header map[string]string, body []byte) error {
	var failure struct {
		Error string `json:"error"`
	}
	if status >= 400 {
		_ = json.Unmarshal(body, &failure) // a page has none
	}
	challenge := header["Www-Authenticate"]
	switch kind := header["X-Place-Kind"]; {
	case header["X-Request-Id"] == "":
		return errors.New("no X-Request-Id")
	case kind == "" && failure.Error == "storage_unavailable": // a server that is away, or the proxy before it: nobody could look at the token
	case scope != "none" && status != 401 && kind != "test" && kind != "live":
		return fmt.Errorf("X-Place-Kind is %q, want test or live", kind)
	case status == 401 && failure.Error == "token_missing" && !strings.HasPrefix(challenge, "Bearer"),
		status == 401 && strings.HasPrefix(failure.Error, "token_") && failure.Error != "token_missing" && !strings.Contains(challenge, `error="invalid_token"`),
		failure.Error == "scope_missing" && !strings.Contains(challenge, `error="insufficient_scope"`):
		return fmt.Errorf("WWW-Authenticate is %q, which is not a challenge for %s", challenge, failure.Error)
	case op.Deprecated != (header["Deprecation"] != ""):
		return fmt.Errorf("the header Deprecation is %q, want one if and only if the document marks the operation as deprecated (%t)", header["Deprecation"], op.Deprecated)
	case op.Deprecated && !strings.Contains(header["Link"], `rel="successor-version"`):
		return fmt.Errorf("the header Link is %q, want the successor of a deprecated path", header["Link"])
	}
	if status == 429 || status == 503 {
		if n, err := strconv.Atoi(header["Retry-After"]); err != nil || n < 1 {
			return fmt.Errorf("Retry-After is %q, want whole seconds", header["Retry-After"])
		}
	}
	return nil
}

// successorIn checks that a deprecated path's Link leads to the same thing at its successor.
func successorIn(op *openapi3.Operation, path, link string) error {
	successor, _ := op.Extensions[successorOf].(string)
	if !op.Deprecated || successor == "" {
		return nil
	}
	before, after, named := strings.Cut(successor, "{id}")
	_, address, _ := strings.Cut(link, "<")
	address, _, _ = strings.Cut(address, ">")
	if !named && address == successor {
		return nil
	}
	id, begins := strings.CutPrefix(address, before)
	id, ends := strings.CutSuffix(id, after)
	path, _, _ = strings.Cut(path, "?")
	if named && begins && ends && slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return unescaped(part) == unescaped(id) }) {
		return nil
	}
	return fmt.Errorf("the header Link names %q, want %s of the same id", hide(address), successor)
}

func unescaped(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		return plain
	}
	return part
}

// envelopeOf checks that an answer in JSON has the fields of docs/decisions.md and no other beside them.
func envelopeOf(op *openapi3.Operation, status int, header map[string]string, body []byte) error {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil || all == nil || status < 400 && all["success"] == nil {
		return nil // a page, a document
	}
	needs, may := []string{"success", "data"}, []string{"total"}
	if status >= 400 {
		needs, may = []string{"error", "message", "statusCode"}, []string{"details"}
		switch legacy := []string{"reason", "detail"}; { // see LEG-1
		case header["Idempotent-Replayed"] != "": // in the shape of the path that was called first
			may = append(may, legacy...)
		case op.Deprecated:
			needs = append(needs, legacy...)
		}
	}
	for _, name := range needs {
		if all[name] == nil {
			return fmt.Errorf("the body has no %s", name)
		}
	}
	if got := string(all["statusCode"]); status >= 400 && got != strconv.Itoa(status) {
		return fmt.Errorf("the body's statusCode is %s", got)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(needs, name) && !slices.Contains(may, name) {
			return fmt.Errorf("the body has a field %q, which no such answer has", name)
		}
	}
	return nil
}

// pageOf checks that a page with a link's token in its address stays between the server and whoever asked.
func pageOf(path string, header map[string]string) error {
	if !strings.HasPrefix(path, "/entry") || !strings.HasPrefix(header["Content-Type"], "text/html") {
		return nil
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Content-Security-Policy": "frame-ancestors 'none'"} {
		if !strings.Contains(header[name], want) {
			return fmt.Errorf("%s is %q, want %s", name, header[name], want)
		}
	}
	return nil
}

// The names that tell a list's items apart, and the times that order them. Of each, the first that an item has counts:
// events name their record and permit, too.
var (
	idNames   = []string{"eventId", "recordId", "permitId", "membershipId", "reservationId", "customerId", "policyId"}
	timeNames = []string{"recordedAt", "createdAt"}
)

func listOf(op *openapi3.Operation, path string, body []byte) error {
	var list struct {
		Data  []map[string]any `json:"data"`
		Total *int             `json:"total"`
	}
	if json.Unmarshal(body, &list) != nil || list.Total == nil {
		return nil // not a list
	}
	limit, offset, paged := paging(op, path)
	n, total := len(list.Data), *list.Total
	switch {
	case !paged && total != n:
		return fmt.Errorf("total is %d for a list of %d", total, n)
	case paged && n > limit:
		return fmt.Errorf("a page of %d has %d items", limit, n)
	case paged && n > 0 && total < offset+n, paged && n < limit && n > 0 && total != offset+n, paged && n == 0 && total > offset:
		return fmt.Errorf("total is %d for a page of %d from %d on", total, n, offset)
	}
	return ordered(list.Data)
}

// paging is which page was asked for, if the operation has pages.
func paging(op *openapi3.Operation, path string) (limit, offset int, paged bool) {
	p := op.Parameters.GetByInAndName("query", "limit")
	if p == nil {
		return 0, 0, false
	}
	limit = 100
	_, query, _ := strings.Cut(path, "?")
	asked, err := url.ParseQuery(query)
	if n, err := strconv.Atoi(asked.Get("limit")); err == nil {
		limit = n
	}
	offset, _ = strconv.Atoi(asked.Get("offset"))
	return limit, offset, err == nil
}

// ordered checks that items are distinct and the newest is first; of those of one time, the one with the larger id.
func ordered(items []map[string]any) error {
	seen := map[string]bool{}
	last, lastID := map[string]string{}, ""
	for _, item := range items {
		own := ""
		for _, name := range idNames {
			id, ok := item[name].(string)
			if !ok {
				continue
			}
			if seen[id] {
				return fmt.Errorf("%s is in the list twice", id)
			}
			seen[id], own = true, id
			break
		}
		for _, name := range timeNames {
			at, ok := item[name].(string)
			if !ok {
				continue
			}
			if before := last[name]; before != "" && at > before { // RFC 3339 in UTC with milliseconds sorts as text
				return fmt.Errorf("%s %s comes after %s, want the newest first", name, at, before)
			} else if at == before && own > lastID {
				return fmt.Errorf("%s comes after %s, both with %s %s, want the larger id first", own, lastID, name, at)
			}
			last[name] = at
			break
		}
		lastID = own
	}
	return nil
}
