package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// session is how a browser shows that it was signed in with the control token. The cookie and the forms carry values
// derived from the token, never the token itself. They stay valid across a restart with the same token.
type session struct {
	token        string
	cookie, form string
	origin       *http.CrossOriginProtection
}

func newSession(token string) session {
	derive := func(use string) string {
		m := hmac.New(sha256.New, []byte(token))
		m.Write([]byte("doorlab console " + use))
		return hex.EncodeToString(m.Sum(nil))
	}
	return session{token: token, cookie: derive("cookie"), form: derive("form"), origin: http.NewCrossOriginProtection()}
}

// name is the cookie's name. It includes the port, because browsers share cookies among a machine's ports.
func (s session) name(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "doorlab_console"
	}
	return "doorlab_console_" + port
}

// open reports whether the request comes from a browser that is signed in.
func (s session) open(r *http.Request) bool {
	c, err := r.Cookie(s.name(r))
	return err == nil && same(c.Value, s.cookie)
}

func same(got, want string) bool { return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1 }

// may reports whether a form may change something: it is one of our own pages'
// (no foreign origin, and the form's own token), sent by somebody signed in.
func (s session) may(r *http.Request) bool {
	return s.origin.Check(r) == nil && s.open(r) && same(r.PostFormValue("form"), s.form)
}

// set signs the browser in or, with "", out.
func (s session) set(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: s.name(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// loginView is what the page to sign in shows.
type loginView struct {
	Next  string
	Wrong bool
}

// toLogin leads to the page to sign in, which leads back.
func (c *Console) toLogin(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
}

// loginPage asks for the control token. The address that doorlab prints on a terminal has it behind a #, which no browser
// sends; console.js puts it into the form.
func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	if c.session.open(r) {
		http.Redirect(w, r, inside(r.URL.Query().Get("next")), http.StatusSeeOther)
		return
	}
	c.render(w, c.look(r, Page{Name: "login", Title: "login.title"}, loginView{Next: inside(r.URL.Query().Get("next"))}), http.StatusOK)
}

// login takes the token from the form's body: it never stands in an address.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	next := inside(r.PostFormValue("next"))
	if c.session.origin.Check(r) != nil || !same(strings.TrimSpace(r.PostFormValue("token")), c.session.token) {
		c.render(w, c.look(r, Page{Name: "login", Title: "login.title"}, loginView{Next: next, Wrong: true}), http.StatusForbidden)
		return
	}
	c.session.set(w, r, c.session.cookie)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if c.session.may(r) {
		c.session.set(w, r, "")
	}
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// inside returns an address of this console; any other becomes the start page.
func inside(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.ContainsAny(next, "\\\r\n") {
		return "/"
	}
	return u.RequestURI()
}
