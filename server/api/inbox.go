package api

import (
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

// seen is what the inbox needs of a call besides what the checks found.
type seen struct {
	body      []byte
	answer    []byte
	late      auth.Principal // whose expired token it was
	given     auth.Token     // that an exchange answered
	commandID string
}

// record hands the finished call to the inbox of its place. A request without a
// valid token is nobody's, with two exceptions: one whose token has expired, and an
// exchange that failed, which belongs to the place whose key was exchanged from that
// address before.
func (c *call) record() {
	box := c.api.cfg.Inbox
	if box == nil || c.r.RemoteAddr == "" { // from inside: the console's own
		return
	}
	who := c.who
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
		var err error
		if who, err = c.api.cfg.Keys.Verify(c.bearer()); err != nil {
			return
		}
	}
	if who.PlaceID == "" || !box.Wants(who.PlaceID, who.PlaceKind == place.Live) {
		return
	}
	x := inbox.Exchange{PlaceID: who.PlaceID, KeyID: who.KeyID, Addr: c.address(), RequestID: c.id, Method: c.r.Method, Route: c.op.Path,
		Target: c.r.URL.RequestURI(), DoorID: c.door.ID, Token: c.bearer(), Given: c.seen.given.AccessToken, Key: c.r.Header.Get("Idempotency-Key"),
		Type: c.r.Header.Get("Content-Type"), Request: c.body(), Status: c.status, Code: c.code, Answer: c.seen.answer,
		Replayed: c.w.Header().Get("Idempotent-Replayed") != "", CommandID: c.seen.commandID, Took: clock.Mono() - c.began}
	if sec, err := strconv.Atoi(c.w.Header().Get("Retry-After")); err == nil {
		x.RetryIn = time.Duration(sec) * time.Second
	}
	box.Add(x)
}

// maxUnread is how long a body may be that no check has read, and is read for the inbox.
const maxUnread = 8 << 10

// body is the request's, also when it was refused before its body was looked at.
func (c *call) body() []byte {
	if c.seen.body == nil && c.r.ContentLength > 0 && c.r.ContentLength <= maxUnread {
		c.seen.body, _ = io.ReadAll(io.LimitReader(c.r.Body, maxUnread)) // what came is shown
	}
	return c.seen.body
}

// bearer is the token of the request, "" without one.
func (c *call) bearer() string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(c.r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// lateFor remembers whose token has expired.
func (c *call) lateFor(who auth.Principal, err error) error {
	if fail.CodeOf(err) == fail.TokenExpired {
		c.seen.late = who
	}
	return err
}
