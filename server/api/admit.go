package api

import (
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/record"
)

// gate runs before all other checks: the limit on token exchanges, see AUTH-3.
func (c *call) gate() error {
	if c.op.ID == "exchangeKey" {
		return c.api.cfg.Keys.Admit(c.address())
	}
	return nil
}

// authenticate verifies the token, see AUTH-2.
func (c *call) authenticate() error {
	if c.op.Scope == "none" {
		return nil
	}
	token, sent := c.bearer()
	if !sent {
		return fail.New(fail.TokenMissing, "send the access token in the header Authorization: Bearer ACCESS_TOKEN")
	}
	if len(c.r.Header.Values("Authorization")) > 1 {
		return fail.New(fail.TokenInvalid, "more than one Authorization header")
	}
	who, err := c.api.cfg.Keys.Verify(token)
	if err != nil {
		return c.lateFor(who, err)
	}
	c.who = who
	c.w.Header().Set("X-Place-Kind", c.who.PlaceKind)
	return nil
}

// authorize checks the scope, then the place in the path, see AUTH-4.
func (c *call) authorize() error {
	switch c.op.Scope {
	case "none":
		return nil
	case "any":
	default:
		if !c.who.Has(c.op.Scope) {
			return fail.New(fail.ScopeMissing, "the key lacks the scope "+c.op.Scope, "scope", c.op.Scope)
		}
	}
	if c.op.Resource == "place" && c.path("placeId") != c.who.PlaceID { // [AUTH-4]
		return fail.New(fail.PlaceForbidden, "the path names a place other than the key's, "+c.who.PlaceID)
	}
	return nil
}

// find looks up what the path names. Something of another place counts as not found.
func (c *call) find() (err error) {
	none := false
	switch dir := c.api.cfg.Directory; c.op.Resource {
	case "public-place":
		_, err = dir.Place(c.path("placeId"))
	case "door":
		c.door, err = dir.Door(c.path("id"))
		none = c.door.PlaceID != c.who.PlaceID
	case "board":
		c.board, err = dir.Board(c.path("boardId"))
		none = c.board.PlaceID != c.who.PlaceID
	}
	if errors.Is(err, fail.ErrNotFound) || err == nil && none {
		code := openapi.Absent[c.op.Resource]
		return fail.New(code, strings.TrimSuffix(code, "_not_found")+" not found")
	}
	return err
}

// address is the caller's address: the socket's, or the one a trusted proxy reports.
func (c *call) address() string {
	addr := c.r.RemoteAddr
	if len(c.api.cfg.Proxies) == 0 {
		return addr
	}
	hops := strings.Split(strings.Join(c.r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && c.trusted(addr); i-- {
		hop := strings.TrimSpace(hops[i])
		if hop == "" {
			continue // an empty element of a list says nothing (RFC 9110)
		}
		if !limit.IP(hop).IsValid() {
			break
		}
		addr = hop
	}
	return addr
}

func (c *call) trusted(addr string) bool {
	ip := limit.IP(addr)
	return slices.ContainsFunc(c.api.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(ip.Unmap().WithZone("")) })
}

// auditRefusal writes an audit row for a door command that was refused before it reached the device, see ENT-4. Without
// a valid token there is no place to attribute it to: the metrics count it, but no row is written.
func (c *call) auditRefusal(e *fail.Error) {
	if c.api.cfg.Audit == nil || c.who.KeyID == "" || !isCommand(c.op) || e.Code == fail.InternalError || e.Status() >= 500 {
		return
	}
	select {
	case c.api.audits <- struct{}{}:
		defer func() { <-c.api.audits }()
	default: // drop the row: a flood of refusals must not slow down anything else
		return
	}
	err := c.api.cfg.Audit(record.Audit{PlaceID: c.who.PlaceID, KeyID: c.who.KeyID, RequestID: c.id, // [ENT-4]
		Action: "command.refused", Detail: e.Code})
	if err != nil {
		c.api.log(c, slog.LevelWarn, "an entry of the audit log could not be saved", "error", err)
	}
}

func isCommand(op *openapi.Operation) bool {
	switch op.ID {
	case "commandDevice", "openDoor", "closeDoor", "holdDoor":
		return true
	}
	return false
}
