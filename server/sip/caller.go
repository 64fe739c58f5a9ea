package sip

import (
	"strings"

	msg "github.com/emiago/sipgo/sip"
	"github.com/nyaruka/phonenumbers"
)

// callerID is the number that the peer vouches for, else the one in From; "" for a caller who is anonymous or asked for
// privacy (RFC 3323, 3325).
func callerID(req *msg.Request) string {
	for _, h := range req.GetHeaders("Privacy") {
		for _, p := range strings.FieldsFunc(strings.ToLower(h.Value()), func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
			if p == "id" || p == "user" {
				return ""
			}
		}
	}
	asserted := req.GetHeaders("P-Asserted-Identity")
	for _, h := range asserted {
		for _, uri := range addresses(h.Value()) {
			if user := userOf(uri); user != "" {
				return user
			}
		}
	}
	from := req.From()
	if len(asserted) > 0 || from == nil || strings.EqualFold(from.Address.User, "anonymous") || strings.EqualFold(from.Address.Host, "anonymous.invalid") {
		return ""
	}
	return userOf(from.Address.String())
}

// addresses are the URIs of a header value: a list of name-addr or addr-spec (RFC 3261, 25.1). A display name may
// contain anything the caller likes, so it is skipped.
func addresses(v string) (uris []string) {
	for v = strings.TrimSpace(v); v != ""; v = strings.TrimSpace(v) {
		end, open, quoted := len(v), -1, false
		uri := ""
	scan:
		for i := 0; i < len(v); i++ {
			switch c := v[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '<' && open < 0:
				open = i + 1
			case c == '>' && open >= 0 && uri == "":
				uri = v[open:i]
			case c == ',' && (open < 0 || uri != ""):
				end = i
				break scan
			}
		}
		if open < 0 { // addr-spec: parameters after it are the header's
			uri, _, _ = strings.Cut(v[:end], ";")
		}
		uris = append(uris, strings.TrimSpace(uri))
		if end == len(v) {
			break
		}
		v = v[end+1:]
	}
	return uris
}

// userOf is the user part of a sip:, sips: or tel: URI, without its parameters; "" for any other.
func userOf(uri string) string {
	scheme, rest, ok := strings.Cut(uri, ":")
	switch {
	case !ok:
		return ""
	case strings.EqualFold(scheme, "tel"):
		return subscriber(rest)
	case strings.EqualFold(scheme, "sip"), strings.EqualFold(scheme, "sips"):
		user, _, found := strings.Cut(rest, "@")
		if !found {
			return ""
		}
		user, _, _ = strings.Cut(user, ":") // a password
		return subscriber(user)
	}
	return ""
}

// subscriber is a telephone number without its parameters, which are those of a tel: URI in a sip: URI as well (RFC 3261,
// 19.1.6); "" for a local number of another context.
func subscriber(number string) string {
	number, params, _ := strings.Cut(number, ";")
	if strings.Contains(strings.ToLower(params), "phone-context") && !strings.HasPrefix(number, "+") {
		return ""
	}
	return number
}

// longest is how many digits a telephone number can have, as in E.164. What isn't one isn't remembered by the limits.
const longest = 15

// national is a number in the form that permits use: domestic numbers in national form, foreign ones in E.164 with the
// plus sign, so that they never equal a domestic one. "" if it isn't a number.
func (s *Server) national(user string) string {
	if strings.Trim(user, "+0123456789-. ()") != "" { // phonenumbers would take letters for the digits on their keys
		return ""
	}
	if strings.HasPrefix(user, "+") {
		n, err := phonenumbers.Parse(user, region)
		if err != nil {
			return ""
		}
		if int(n.GetCountryCode()) != phonenumbers.GetCountryCodeForRegion(region) {
			return phonenumbers.Format(n, phonenumbers.E164)
		}
		user = phonenumbers.Format(n, phonenumbers.NATIONAL)
	}
	var b strings.Builder
	for _, c := range user {
		switch {
		case c >= '0' && c <= '9':
			b.WriteRune(c)
		case strings.ContainsRune("-. ()", c):
		default:
			return ""
		}
	}
	if b.Len() > longest {
		return ""
	}
	return b.String()
}
