package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/testbed"
)

// printReady is the ready line for people: addresses, keys, an entry link and
// three commands to paste.
func printReady(ctx context.Context, w io.Writer, r testbed.Ready, tb *testbed.Testbed) {
	part := ""
	if r.Shard != "" {
		part = ", shard " + r.Shard + " of the world"
	}
	ofTest := ""
	if n := tb.TestBoards(); n > 0 && tb.Boards() > n { // --boards counts only the live places'
		ofTest = fmt.Sprintf(" (%d of them in the test place)", n)
	}
	fmt.Fprintf(w, "doorlab is ready: %s, %s%s%s\n\n", amount.Many(len(r.Places), "place"), amount.Many(tb.Boards(), "simulated board"), ofTest, part)
	fmt.Fprintf(w, "  API      %s\n  MQTT     %s\n", r.HTTP, r.MQTT)
	if r.Control != "" {
		fmt.Fprintf(w, "  control  %s   token %s\n", r.Control, r.ControlToken)
		fmt.Fprint(w, "\n"+openConsole(r.Control, r.ControlToken, terminal(w)))
		where := "" // the default address isn't set: a second 'doorlab up' would take it for its own
		if r.Control != "http://127.0.0.1:8081" {
			where = "DOORLAB_CONTROL=" + r.Control + " "
		}
		fmt.Fprintf(w, "For doorlab's commands in another terminal:\n  export %sDOORLAB_CONTROL_TOKEN=%s\n", where, quoted(r.ControlToken))
	}
	fmt.Fprintln(w)
	const show = 6
	var rows [][]string
	for _, p := range r.Places[:min(show, len(r.Places))] {
		key := "(no key; doorlab keys create makes one)"
		if p.APIKey != nil {
			key = *p.APIKey
		} else if len(p.OtherKeys) > 0 {
			key = "(no key with both scopes; doorlab keys create makes one)"
		}
		rows = append(rows, []string{p.Kind, p.Name, key, p.EntryPhone})
		for _, k := range p.OtherKeys {
			rows = append(rows, []string{"", strings.TrimSpace(k.Name + " (" + strings.Join(k.Scopes, ", ") + ")"), k.APIKey, ""})
		}
	}
	for _, line := range aligned(rows) {
		fmt.Fprintln(w, "  "+line)
	}
	if more := len(r.Places) - show; more > 0 {
		fmt.Fprintf(w, "  ... and %s (--json lists them all)\n", amount.Many(more, "more place"))
	}
	if r.RepeatableSecrets {
		fmt.Fprintln(w, "  Keys and board passwords derive from the seed: good for tests on this machine, not for real doors.")
	}
	if r.SIP != "" {
		fmt.Fprintf(w, "\nPhone entry over SIP: call sip:<entry phone>@%s, UDP or TCP\n", r.SIP)
	}
	if p, door, ok := tb.Example(); ok {
		printExample(ctx, w, r.HTTP, tb, p, door)
	}
	fmt.Fprintln(w, "\nPress Ctrl-C to stop.")
}

// openConsole says how to open the console. On a terminal the address signs in, so that nobody has to copy a token: a
// fragment stays in the browser. Elsewhere, in a service's journal, say, an address to click helps nobody.
func openConsole(control, token string, watched bool) string {
	if !watched {
		return fmt.Sprintf("Open %s/ in a browser: the console. Sign in with the token above.\n", control)
	}
	return fmt.Sprintf("Open this in a browser; it signs you in to the console:\n  %s/login#token=%s\n", control, url.PathEscape(token))
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// printExample prints an entry link and three commands to paste.
func printExample(ctx context.Context, w io.Writer, base string, tb *testbed.Testbed, p client.Place, door string) {
	if url, err := tb.ExampleLink(ctx, *p.APIKey); err == nil && url != "" {
		fmt.Fprintf(w, "\nAn entry link of %s, as a customer receives it:\n  %s\n", p.Name, url)
	}
	fmt.Fprintf(w, `
Try it: get a token, open a door, read the entry records
  TOKEN=$(curl -s %[1]s/core/v1/auth/apikey/token -H 'Content-Type: application/json' -d '{"key":"%[2]s"}' | grep -o '"accessToken":"[^"]*' | cut -d'"' -f4)
  curl -sw '\n' %[1]s/device/v1/devices/%[3]s/commands -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H "Idempotency-Key: $(date +%%FT%%T)" -d '{"capability":"door","command":"open"}'
  curl -sw '\n' %[1]s/space/v1/partner/entry-logs -H "Authorization: Bearer $TOKEN"
`, base, *p.APIKey, door)
}

// progress shows how far a long start has got, on a terminal only.
func progress(e *env) func(online, boards int) {
	if !terminal(e.err) {
		return nil
	}
	return func(online, boards int) { fmt.Fprintf(e.err, "%d of %d boards connected ...\n", online, boards) }
}

// terminal reports whether somebody is watching.
func terminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	fd, ok := w.(*os.File)
	return ok && isatty.IsTerminal(fd.Fd())
}
