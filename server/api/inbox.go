package api

import (
	"cmp"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// seen is what the inbox needs to know about a call besides what the checks found.
type seen struct {
	body      []byte
	answer    []byte
	late      auth.Principal // whose expired token was sent
	given     auth.Token     // the result of an exchange
	doorID    string         // whose button a customer pressed
	commandID string
}

// record hands the finished call to its place's inbox. A request without a valid token belongs to no place, with three
// exceptions: one with an expired token; a failed exchange, which belongs to the place whose key was exchanged from
// that address before; and requests by a place's customers.
func (c *call) record() {
	box := c.api.cfg.Inbox
	if box == nil || c.r.RemoteAddr == "" { // from this process: the console's own
		return
	}
	who := c.who
	token, _ := c.bearer()
	switch {
	case who.PlaceID != "":
	case c.seen.late.PlaceID != "":
		who = c.seen.late
	case c.op.ID == "exchangeKey":
		who = c.seen.given.By
		if who.PlaceID == "" {
			who.PlaceID = box.Peer(c.address())
		}
	case c.status == http.StatusNotFound || c.status == http.StatusMethodNotAllowed: // nothing was checked yet
		if by, err := c.api.cfg.Keys.Verify(token); err == nil {
			who = by
		}
	}
	customer := who.PlaceID == ""
	if customer {
		who = c.customerOf()
	}
	if who.PlaceID == "" || !box.Wants(who.PlaceID, customer, who.PlaceKind == place.Live) {
		return
	}
	x := inbox.Exchange{Came: c.came, PlaceID: who.PlaceID, Customer: customer, KeyID: who.KeyID, Addr: c.address(), RequestID: c.id, Method: c.r.Method, Route: c.op.Path,
		Target: cmp.Or(c.r.RequestURI, c.r.URL.RequestURI()), DoorID: cmp.Or(c.door.ID, c.seen.doorID), Token: token, Given: c.seen.given.AccessToken, Key: c.r.Header.Get("Idempotency-Key"),
		Type: c.r.Header.Get("Content-Type"), Request: c.body(), Status: c.status, Code: c.code, Answer: c.seen.answer,
		Replayed: c.w.Header().Get("Idempotent-Replayed") != "", CommandID: c.seen.commandID, Took: clock.Mono() - c.began}
	if sec, err := strconv.Atoi(c.w.Header().Get("Retry-After")); err == nil {
		x.RetryIn = time.Duration(sec) * time.Second
	}
	if customer && c.w.Header().Get("Content-Type") != typeJSON {
		x.Answer = nil // an HTML page, which adds nothing to the status
	}
	box.Add(x)
}

// customerOf is the place whose customer opened or pressed an entry link, or read its hours.
func (c *call) customerOf() (who auth.Principal) {
	id, err := "", error(nil)
	switch c.op.ID {
	case "getSchedule":
		id = c.path("placeId")
	case "entryPage":
		id, err = c.api.cfg.Entry.LinkPlace(c.r.URL.Query().Get("t"))
	case "entryOpen":
		id, err = c.api.cfg.Entry.LinkPlace(c.token)
	}
	if id == "" || err != nil {
		return who
	}
	p, err := c.api.cfg.Directory.Place(id)
	if err != nil { // no such place
		return who
	}
	return auth.Principal{PlaceID: p.ID, PlaceKind: p.Kind}
}

// maxUnread is how much the inbox reads of a body that no check has read.
const maxUnread = 8 << 10

// body is the request's body, even if the request was refused before it was read.
func (c *call) body() []byte {
	if c.seen.body == nil && c.r.ContentLength > 0 && c.r.ContentLength <= maxUnread {
		c.seen.body, _ = io.ReadAll(io.LimitReader(c.r.Body, maxUnread)) // on an error, show what arrived
	}
	return c.seen.body
}

// bearer is the token of the request, "" without one.
func (c *call) bearer() (token string, sent bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(c.r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// lateFor notes whose token has expired.
func (c *call) lateFor(who auth.Principal, err error) error {
	if fail.CodeOf(err) == fail.TokenExpired {
		c.seen.late = who
	}
	return err
}
