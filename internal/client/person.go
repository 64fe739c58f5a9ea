package client

import (
	"net/url"
	"strings"

	"github.com/doorlab/doorlab/internal/access"
)

// Person tells a phone from an entry link or its token, however people write them, and gives it the form that a reader gets.
// One of the two is "".
func Person(text string) (phone, token string) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "+0123456789-. ()") == "" {
		return access.National(text), ""
	}
	if u, err := url.Parse(text); err == nil && u.Query().Get("t") != "" {
		return "", u.Query().Get("t")
	}
	return "", text
}
