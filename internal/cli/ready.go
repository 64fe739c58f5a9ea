package cli

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/doorlab/doorlab/internal/testbed"
)

// Version is the module's version as the build recorded it.
func Version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "devel"
}

// printReady says the same as the ready line to a person: addresses, keys, an
// entry link, three commands to paste.
func printReady(w io.Writer, r testbed.Ready, c testbed.Config, tb *testbed.Testbed) {
	fmt.Fprintf(w, "doorlab is ready: %d places, %d simulated boards\n\n", len(r.Places), tb.Boards())
	fmt.Fprintf(w, "  API      %s\n  MQTT     %s\n", r.HTTP, r.MQTT)
	if r.Control != "" {
		fmt.Fprintf(w, "  control  %s   token %s\n", r.Control, r.ControlToken)
	}
	fmt.Fprintln(w)
	const show = 6
	for i, p := range r.Places {
		if i == show {
			fmt.Fprintf(w, "  ... and %d more places (--json lists them all)\n", len(r.Places)-show)
			break
		}
		key := "(revoked)"
		if p.APIKey != nil {
			key = *p.APIKey
		}
		fmt.Fprintf(w, "  %-4s %-14s %s   %s\n", p.Kind, p.Name, key, p.EntryPhone)
	}
	p := r.Places[0]
	if p.APIKey == nil {
		return
	}
	if url, err := tb.ExampleLink(); err == nil && url != "" {
		fmt.Fprintf(w, "\nAn entry link, as a customer gets it:\n  %s\n", url)
	}
	fmt.Fprintf(w, `
Try it:
  TOKEN=$(curl -s %[1]s/core/v1/auth/apikey/token -H 'Content-Type: application/json' -d '{"key":"%[2]s"}' | grep -o '"accessToken":"[^"]*' | cut -d'"' -f4)
  curl -s %[1]s/device/v1/devices -H "Authorization: Bearer $TOKEN"
  curl -s %[1]s/space/v1/partner/entry-permits -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d '{"externalRef":"order-1","phone":"01012345678","startsAt":"2026-01-01T00:00:00Z","endsAt":"2026-01-30T00:00:00Z"}'

Ctrl-C ends it.
`, r.HTTP, *p.APIKey)
	if c.Fleet {
		fmt.Fprintln(w)
	}
}
