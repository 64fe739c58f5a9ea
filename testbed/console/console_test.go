package console

import (
	"bytes"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/lang"
	"github.com/doorlab/doorlab/internal/must"
)

// TestWords: every text exists in both languages with the same arguments and is used, and every text that is used
// exists.
func TestWords(t *testing.T) {
	t.Parallel()
	verbs := regexp.MustCompile(`%(\[\d+\])?[a-z]`)
	en, ko := wordsOf(lang.English), wordsOf(lang.Korean)
	var pages, used strings.Builder
	for _, text := range sources(t, "pages/*.html") {
		pages.WriteString(text)
	}
	used.WriteString(pages.String())
	for _, text := range sources(t, "*.go") {
		used.WriteString(text)
	}
	for key, text := range en {
		if ko[key] == "" || text == "" {
			t.Errorf("%s: got %q and %q, want a text in both languages", key, text, ko[key])
		}
		if got, want := len(verbs.FindAllString(ko[key], -1)), len(verbs.FindAllString(text, -1)); got != want {
			t.Errorf("%s: the Korean text takes %d arguments, the English %d", key, got, want)
		}
		if !strings.Contains(used.String(), `"`+key+`"`) && !dynamic(key) {
			t.Errorf("%s: no page uses this text", key)
		}
	}
	for _, key := range regexp.MustCompile(`\.T "([^"]+)"`).FindAllStringSubmatch(pages.String(), -1) {
		if en[key[1]] == "" {
			t.Errorf("%s: a page uses this text, but it doesn't exist", key[1])
		}
	}
}

// dynamicWords are prefixes of keys that are completed with a value from a closed list.
var dynamicWords = []string{"nav.", "disk.", "phase.", "outcome.", "command.", "visit.", "way.", "due.", "door.", "leaf.", "acts.", "board.", "golive.", "trouble.", "state.", "people.permit", "people.reservation", "people.membership"}

func dynamic(key string) bool {
	for _, prefix := range dynamicWords {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

func sources(t *testing.T, pattern string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var from fs.FS = files
	if pattern == "*.go" {
		from = os.DirFS(".")
	}
	names, err := fs.Glob(from, pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %d files", pattern, err, len(names))
	}
	for _, name := range names {
		b := must.Get(fs.ReadFile(from, name))(t)
		if !strings.HasPrefix(name, "words") && !strings.HasSuffix(name, "_test.go") {
			out[name] = string(bytes.TrimSpace(b))
		}
	}
	return out
}

// TestPolicyHolds: no template needs anything that the content security policy forbids.
func TestPolicyHolds(t *testing.T) {
	t.Parallel()
	for name, text := range sources(t, "pages/*.html") {
		for _, bad := range []string{" style=", "<style", " onclick=", " onsubmit=", " onload=", "javascript:", "http://", "https://"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q, which the policy refuses", name, bad)
			}
		}
		if strings.Contains(text, "<script") && name != "pages/layout.html" {
			t.Errorf("%s has a script of its own, want all in console.js", name)
		}
	}
}
