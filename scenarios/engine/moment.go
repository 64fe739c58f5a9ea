package engine

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Dur is a duration like 36h, 1m30s, 250ms, 2d, or a template of one.
type Dur struct{ Text }

func (d *Dur) BindText(b *strictyaml.Binder, raw string, pos Pos) {
	d.Text.BindText(b, raw, pos)
	if !strings.Contains(raw, "${") {
		if _, err := duration(raw); err != nil {
			b.Problem(pos, "%s", err)
		}
	}
}

// duration parses Go's durations and leading days.
func duration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := amount.ParseDuration(text)
	switch {
	case err == nil:
		return d, nil
	case amount.TooLong(text):
		return 0, fmt.Errorf("%q is too long: at most %.0fh", text, amount.Longest.Hours())
	}
	return 0, fmt.Errorf("%q is not a valid duration, write it like 36h, 1m30s or 2d", text)
}

func (d Dur) dur(s *scope) (time.Duration, error) {
	text, err := d.str(s)
	if err != nil {
		return 0, err
	}
	return duration(text)
}

// When is a point in time: now, a label, either with an offset (cut+36h-1s), an offset alone (+48h: from now), or an
// RFC 3339 time, with or without an offset.
type When struct{ Text }

var moment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)?\s*((?:[+-]\s*[0-9][0-9a-zµ.]*\s*)*)$`)
var offset = regexp.MustCompile(`([+-])\s*([0-9][0-9a-zµ.]*)`)

func (w *When) BindText(b *strictyaml.Binder, raw string, pos Pos) {
	w.Text.BindText(b, raw, pos)
	if strings.Contains(raw, "${") {
		return
	}
	usesMoment(b, raw, pos)
}

var absolute = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9:.]+(?:[Zz]|[+-][0-9]{2}:[0-9]{2})`)

// splitMoment returns the label, or the time if it is an absolute one, and the offset.
func splitMoment(text string) (label string, d time.Duration, err error) {
	text = strings.TrimSpace(text)
	if t := absolute.FindString(text); t != "" {
		if _, err := time.Parse(time.RFC3339Nano, t); err != nil {
			return "", 0, fmt.Errorf("%q is not a time", t)
		}
		if text == t {
			return t, 0, nil
		}
		_, d, err := splitMoment("now" + text[len(t):])
		return t, d, err
	}
	m := moment.FindStringSubmatch(text)
	if m == nil || text == "" {
		return "", 0, fmt.Errorf("%q is not a valid moment, write it like now, cut+36h-1s, +48h or an RFC 3339 time", text)
	}
	if label = m[1]; label == "" {
		label = "now"
	}
	for _, o := range offset.FindAllStringSubmatch(m[2], -1) {
		v, err := duration(o[2])
		if err != nil {
			return "", 0, err
		}
		if o[1] == "-" {
			v = -v
		}
		d += v
	}
	return label, d, nil
}

// moment is the next whole millisecond, and returns when it has come: everything before it happened earlier, and
// everything after it then or later, by every clock. Running clocks of separate processes are some milliseconds apart. A
// frozen clock has no next one: its mark is the moment at which it stands.
func (l *lab) moment(ctx context.Context) (time.Time, clockView, error) {
	server, err := l.clock(ctx)
	if err != nil || server.State == "frozen" {
		return server.Now, server, err
	}
	views := []clockView{server}
	if len(l.all) > 1 {
		if views, err = l.views(ctx, http.MethodGet, "/clock", nil); err != nil {
			return server.Now, server, err
		}
	}
	byTime := func(a, b clockView) int { return a.Now.Compare(b.Now) }
	first, last := slices.MinFunc(views, byTime).Now, slices.MaxFunc(views, byTime).Now
	at := last.Truncate(time.Millisecond).Add(time.Millisecond)
	return at, server, client.Pause(ctx, min(at.Sub(first), time.Second)) // until all of them are there
}
