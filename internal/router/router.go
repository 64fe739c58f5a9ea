// Package router writes the configuration with which HAProxy routes requests, boards and calls to the cells of a world:
// servers that each have every n-th place and know nothing of each other. It is arithmetic on ids; HAProxy does the
// routing. cmd/doorlab uses it.
package router

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"text/template"

	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// Config of a router. The cells' addresses are either one pattern for all of them, in which {i} is the cell's number
// from 1 and {k} its number from 0, or one address per cell.
type Config struct {
	World  *world.World
	Shards int
	HTTP   string // where the router listens
	MQTT   string
	PEM    string // file with certificate and key; "" = no TLS
	// Virtual: the cells run on virtual clocks. The router can't count in their time, so each cell enforces the
	// exchange limit itself.
	Virtual bool

	CellHTTP, CellMQTT, CellSIP []string
}

// File is one of the files that HAProxy reads, all in one directory. sip.map is for the PBX in front of the cells,
// because HAProxy doesn't carry UDP.
type File struct{ Name, Text string }

//go:embed haproxy.cfg.tmpl
var configText string

//go:embed exchanges.lua
var exchanges string

//go:embed unavailable.html
var unavailablePage string

var config = template.Must(template.New("haproxy.cfg").Parse(configText))

// cell is a server as the template shows it.
type cell struct {
	I         int // from 1
	HTTP      string
	MQTT, sip string
}

// Files are the configuration, the maps and what they need; the same world always gives the same files. Errors: more
// cells than places, or two places that can't be told apart.
func Files(c Config) ([]File, error) {
	switch n := len(c.World.Places); {
	case c.Shards >= 1 && c.Shards <= n:
	case n == 1:
		return nil, errors.New("must be 1: the world has one place")
	default:
		return nil, fmt.Errorf("must be 1 to %d, the number of places in the world", n)
	}
	cells := make([]cell, c.Shards)
	names := false
	for k := range cells {
		x := cell{I: k + 1}
		for _, to := range []struct {
			what string
			from []string
			addr *string
		}{{"HTTP", c.CellHTTP, &x.HTTP}, {"MQTT", c.CellMQTT, &x.MQTT}, {"SIP", c.CellSIP, &x.sip}} {
			addr, err := address(to.from, k, c.Shards)
			if err != nil {
				return nil, fmt.Errorf("%s addresses of the cells: %w", to.what, err)
			}
			if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
				return nil, fmt.Errorf("%s addresses of the cells: %q must be host:port", to.what, addr)
			}
			*to.addr = addr
		}
		_, err := netip.ParseAddrPort(x.HTTP)
		names = names || err != nil
		cells[k] = x
	}
	maps, err := maps(c.World, cells)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := config.Execute(&b, map[string]any{
		"Cells": cells, "Names": names, "Limit": !c.Virtual, "HTTP": c.HTTP, "MQTT": c.MQTT, "PEM": c.PEM, "LabelLen": shard.LabelLen,
		"RateLimited": failure("rate_limited", "too many token exchanges from this address", 429), "Unanswered": []int{502, 503, 504},
	}); err != nil {
		return nil, fmt.Errorf("router: %w", err)
	}
	files := []File{{"haproxy.cfg", b.String()}}
	if !c.Virtual {
		files = append(files, File{"exchanges.lua", exchanges})
	}
	return append(append(files, []File{{"unavailable.http", unavailable()}, {"unavailable-page.http", page()}}...), maps...), nil
}

// address is a cell's address, from a pattern or from a list with one per cell.
func address(from []string, k, cells int) (string, error) {
	if len(from) == 0 {
		return "", errors.New("none given; give one pattern, or one address per cell")
	}
	one := from[0]
	switch {
	case len(from) == cells:
		one = from[k]
	case len(from) > 1:
		return "", fmt.Errorf("%d for %d cells; give one pattern, or one address per cell", len(from), cells)
	case !strings.Contains(one, "{i}") && !strings.Contains(one, "{k}"):
		return "", fmt.Errorf("%q is the same for all %d cells: put {i} (from 1) or {k} (from 0) into it", one, cells)
	}
	return strings.NewReplacer("{i}", strconv.Itoa(k+1), "{k}", strconv.Itoa(k)).Replace(one), nil
}

// maps lead from what a request carries to the cell's number, counted from 1; sip.map leads to its address.
func maps(w *world.World, cells []cell) ([]File, error) {
	var places, labels, boards, doors, sip strings.Builder
	seen := map[string]owned{} // by label
	for _, c := range cells {
		for _, p := range w.Shard(shard.Shard{Index: c.I, Of: len(cells)}).Places {
			label := shard.Label(p.ID)
			if other, twice := seen[label]; twice && other.cell != c.I {
				return nil, fmt.Errorf("places %s and %s have the same label %s and different servers: give one of them a different id", other.place, p.ID, label)
			}
			seen[label] = owned{p.ID, c.I}
			fmt.Fprintf(&places, "%s %d\n", p.ID, c.I)
			fmt.Fprintf(&labels, "%s %d\n", label, c.I)
			for _, b := range p.Boards {
				fmt.Fprintf(&boards, "%s %d\n", b.ID, c.I)
				for _, d := range b.Doors {
					fmt.Fprintf(&doors, "%s %d\n", d.ID, c.I)
				}
			}
			fmt.Fprintf(&sip, "%s %s\n", p.EntryPhone, c.sip)
		}
	}
	return []File{{"places.map", places.String()}, {"labels.map", labels.String()}, {"boards.map", boards.String()}, {"doors.map", doors.String()}, {"sip.map", sip.String()}}, nil
}

// owned is a place and the cell that has it.
type owned struct {
	place string
	cell  int
}

// Unavailable is the message that callers get if their cell is down. The code, storage_unavailable, servers use themselves.
const Unavailable = "the server of this place is not available; try again, and repeat a command with the same Idempotency-Key"

func unavailable() string {
	const code = "storage_unavailable"
	body := failure(code, Unavailable, 503)
	body = strings.TrimSuffix(body, "}") + fmt.Sprintf(`,"reason":%q,"detail":%q}`, code, Unavailable) // older paths have these, too
	return unanswered("application/json", body)
}

// page is the same for a person with an entry link, in the style of the entry page.
func page() string {
	_, rest, _ := strings.Cut(unavailablePage, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	return unanswered("text/html; charset=utf-8", unavailablePage,
		"Content-Security-Policy: default-src 'none'; img-src data:; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
		"Referrer-Policy: no-referrer", "X-Frame-Options: DENY")
}

func unanswered(kind, body string, more ...string) string {
	head := append([]string{"HTTP/1.1 503 Service Unavailable", "Content-Type: " + kind, "Content-Length: " + strconv.Itoa(len(body)),
		"Retry-After: 1", "X-Content-Type-Options: nosniff", "Cache-Control: no-store"}, more...)
	return strings.Join(append(head, "", body), "\r\n")
}

// failure is a failure's body, as the servers write it.
func failure(code, message string, status int) string {
	b, _ := json.Marshal(struct {
		Error      string `json:"error"`
		Message    string `json:"message"`
		StatusCode int    `json:"statusCode"`
	}{code, message, status}) // never fails
	return string(b)
}
