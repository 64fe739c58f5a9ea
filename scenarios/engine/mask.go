package engine

import (
	"regexp"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/mask"
)

// phoneLike is what a phone number looks like, at home and from abroad. Ids don't begin with a zero at a word boundary, so they stay,
// as do the other numbers of a report and times such as cut+129600000ms.
var phoneLike = regexp.MustCompile(`\b0[0-9]{7,14}\b|\B\+[1-9][-. 0-9]{6,16}[0-9]\b`)

// masker hides what no report may show. Secrets that the run knows are hidden whatever they look like.
type masker struct{ known sync.Map }

// add makes a secret known.
func (m *masker) add(secrets ...string) {
	for _, s := range secrets {
		if len(s) >= 8 {
			m.known.Store(s, true)
		}
	}
}

// text is a text with its secrets hidden, that a terminal can show.
func (m *masker) text(s string) string {
	s = visible(s)
	if len(s) < 8 {
		return s
	}
	for k := range m.known.Range {
		if secret := k.(string); strings.Contains(s, secret) {
			s = strings.ReplaceAll(s, secret, hidden(secret))
		}
	}
	return lookalikes(s)
}

// visible shows control characters as pictures: an escape sequence in a name or an answer does nothing to a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case r > 0x7f && r < 0xa0:
			return '\ufffd'
		}
		return r
	}, s)
}

// lookalikes hides whatever looks like a secret.
func lookalikes(s string) string {
	return phoneLike.ReplaceAllStringFunc(mask.Secrets(s), maskPhone)
}

func hidden(secret string) string {
	if strings.Trim(secret, "0123456789") == "" {
		return maskPhone(secret)
	}
	return "[hidden]"
}

// maskPhone shows a number as the contract does.
func maskPhone(p string) string {
	if len(p) < 10 {
		return "****" + p[len(p)-4:]
	}
	return p[:3] + "-****-" + p[len(p)-4:]
}

// clean hides secrets in everything that a step reports.
func (m *masker) clean(s *StepResult) {
	s.Name, s.Detail, s.Boundary = m.text(s.Name), m.text(s.Detail), m.text(s.Boundary)
	s.Rest.Detail = m.text(s.Rest.Detail)
	for i := range s.Charges {
		s.Charges[i].Name, s.Charges[i].Detail = m.text(s.Charges[i].Name), m.text(s.Charges[i].Detail)
	}
}
