package client

import (
	"net/url"
	"strings"
)

// Person tells a phone from an entry link or its token, however people write them, and gives it the form that a reader gets.
// One of the two is "".
func Person(text string) (phone, token string) {
	text = strings.TrimSpace(text)
	number := strings.NewReplacer("-", "", " ", "", ".", "", "(", "", ")", "").Replace(text)
	if domestic, ok := strings.CutPrefix(number, "+82"); ok {
		number = "0" + strings.TrimPrefix(domestic, "0")
	}
	if strings.Trim(number, "+0123456789") == "" {
		return number, ""
	}
	if u, err := url.Parse(text); err == nil && u.Query().Get("t") != "" {
		return "", u.Query().Get("t")
	}
	return "", text
}
