package console

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
)

// marks are moments that people at this console named, so that the clock can jump to 36 h after one of them.
type marks struct {
	mu   sync.Mutex
	list []mark // the latest first
}

type mark struct {
	Name string
	at   time.Time
}

// maxMarks is how many are remembered; the oldest go.
const maxMarks = 20

var (
	markName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]{0,29}$`)
)

// set names a moment; the same name again moves it.
func (m *marks) set(name string, at time.Time) error {
	if !markName.MatchString(name) {
		return badly("wrong.mark")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = slices.DeleteFunc(m.list, func(k mark) bool { return k.Name == name })
	m.list = slices.Insert(m.list, 0, mark{name, at})
	m.list = m.list[:min(len(m.list), maxMarks)]
	return nil
}

// names lists them, the latest first.
func (m *marks) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return each.Of(m.list, func(k mark) string { return k.Name })
}

// moment is the time that a text means: a time in UTC, or a label with or without a distance: cut, cut+36h.
func (m *marks) moment(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, form := range []string{"2006-01-02 15:04", "2006-01-02T15:04", timeFormat, time.RFC3339, "2006-01-02"} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	name, far := text, time.Duration(0)
	if i := strings.IndexAny(text, "+-"); i >= 0 {
		d, err := amount.ParseDuration(text[i+1:])
		if err != nil || d < 0 {
			return time.Time{}, badly("wrong.moment", text)
		}
		if text[i] == '-' {
			d = -d
		}
		name, far = text[:i], d
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.list, func(k mark) bool { return k.Name == name })
	if i < 0 {
		return time.Time{}, badly("wrong.moment", text)
	}
	return m.list[i].at.Add(far), nil
}

// mark names this moment.
func (c *Console) mark(r *http.Request) (Said, error) {
	name, now := strings.TrimSpace(r.PostFormValue("label")), c.cfg.Clock.Now().UTC()
	return Said{Key: "clock.marked", Args: []any{name, now.Format(timeFormat)}}, c.marks.set(name, now)
}

// jumpTo moves the clock to a moment.
func (c *Console) jumpTo(r *http.Request) (Said, error) {
	to, err := c.marks.moment(r.PostFormValue("to"))
	if err != nil {
		return Said{}, err
	}
	if to.Before(c.cfg.Clock.Now()) {
		return Said{}, badly("wrong.past", to.UTC().Format(timeFormat))
	}
	return c.advance(r.Context(), map[string]string{"to": to.Format(time.RFC3339Nano)})
}
