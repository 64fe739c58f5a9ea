package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
)

//go:embed pages
var files embed.FS

// asset is a file with its checksum in its address, so that it may be cached forever. Nothing comes from third
// parties: no libraries, fonts or pictures.
type asset struct {
	path, kind string
	body       []byte
}

var (
	style  = newAsset("console.css", "text/css; charset=utf-8")
	script = newAsset("console.js", "text/javascript; charset=utf-8")
	icon   = newAsset("icon.svg", "image/svg+xml")
	assets = map[string]*asset{style.path: style, script.path: script, icon.path: icon}
)

func newAsset(name, kind string) *asset {
	body, err := files.ReadFile("pages/" + name)
	if err != nil {
		panic("console: " + err.Error())
	}
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return &asset{path: "/assets/" + strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:8]) + ext, kind: kind, body: body}
}

// ServeHTTP implements http.Handler.
func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}

// functions are those of the templates.
var functions = template.FuncMap{
	"style":  func() string { return style.path },
	"script": func() string { return script.path },
	"icon":   func() string { return icon.path },
	"number": amount.Number[int64],
	"span":   span,
	"code":   code,
	"parts":  parts,
	"words":  codeWords,
	"moment": moment,
}

// link is a link of a Markdown text to a page of the documentation, which the console doesn't have.
var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// code renders text between backticks as code, and links as their text.
func code(text string) template.HTML {
	text = link.ReplaceAllString(text, "$1")
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if part = template.HTMLEscapeString(part); i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}

// codeWords lets a code of the API break after each underscore, on a phone.
func codeWords(code string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(code), "_", "_<wbr>"))
}

// breaks are where a path and its query may break: names and ids stay whole.
var breaks = strings.NewReplacer("/", "<wbr>/", "?", "<wbr>?", "&amp;", "<wbr>&amp;", "=", "=<wbr>", ",", ",<wbr>")

// parts lets a path break between its parts and those of its query, and nowhere else.
func parts(path string) template.HTML {
	return template.HTML(breaks.Replace(template.HTMLEscapeString(path)))
}

// policy lets a page use its own style, script and pictures, and speak to its own server.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard sets what a page may do and who may cache it.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Language, Cookie")
}
