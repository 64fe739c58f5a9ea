package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/golive"
	"github.com/doorlab/doorlab/internal/inbox"
)

// inboxRow is a request as the control API shows it.
type inboxRow struct {
	inbox.Entry
	Moved []struct {
		Action string `json:"action"`
	} `json:"moved"`
	Ignored        []string
	Curl, Scenario string
}

func (r inboxRow) moved() string {
	var out []string
	for _, m := range r.Moved {
		out = append(out, m.Action)
	}
	if r.Replayed {
		out = append(out, "replayed")
	}
	if r.Customer {
		out = append(out, "by a customer")
	}
	if len(r.Ignored) > 0 {
		out = append(out, "ignored fields")
	}
	return cmp.Or(strings.Join(out, ","), "-")
}

// text is the request, a blank line and its answer, each without a body that it doesn't have.
func (r inboxRow) text() string {
	ignored := ""
	if len(r.Ignored) > 0 {
		ignored = "\nThe API ignored what it doesn't know: " + strings.Join(r.Ignored, "; ")
	}
	lines := []string{r.Method + " " + r.Path, r.Request, ignored, "\n" + strings.TrimSpace(fmt.Sprint(r.Status, " ", r.Code)), r.Answer}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

func inboxCommand(e *env) *cobra.Command {
	show := func(use, short, example string, text func(r inboxRow) string) *cobra.Command {
		return labCommand(e, use+" SEQ", short, example, "one request's number; 'doorlab inbox list' shows them", func(l labCall, args []string) error {
			var r inboxRow
			err := l.do(http.MethodGet, "/inbox/"+url.PathEscape(args[0]), nil, &r, func() {
				if out := text(r); out != "" {
					fmt.Fprintln(l.out, out)
				}
			})
			if err == nil && !l.json && text(r) == "" {
				return failf("inbox %s %s: can't be copied, because it has %s bytes and the inbox keeps only the first 8 KiB", use, args[0], amount.Number(r.RequestBytes))
			}
			return err
		})
	}
	return group("inbox", "Look at the requests that partners send, and copy them", `  doorlab inbox list
  doorlab inbox show 12
  doorlab inbox curl 12                        # as a command line
  doorlab inbox scenario 12 > case.yaml        # as a scenario that expects the same answer`,
		inboxList(e),
		show("show", "Show a request with its answer", "  doorlab inbox show 12", inboxRow.text),
		show("curl", "Print a request as a curl command", "  doorlab inbox curl 12", func(r inboxRow) string { return r.Curl }),
		show("scenario", "Print a request as a scenario that expects the same answer", "  doorlab inbox scenario 12 > case.yaml",
			func(r inboxRow) string { return strings.TrimSuffix(r.Scenario, "\n") }),
		inboxClear(e),
	)
}

func inboxList(e *env) *cobra.Command {
	var place, status, path, key string
	var limit int
	c := labCommand(e, "list", "List a place's latest requests, newest first", `  doorlab inbox list
  doorlab inbox list --place Gangnam --status 4xx,504 --path commands`, "no arguments",
		func(l labCall, _ []string) error {
			if err := page(limit, 0); err != nil {
				return err
			}
			q := query(map[string]string{"placeId": l.placeOrTest(place), "limit": strconv.Itoa(limit), "status": status, "path": path, "key": key})
			var list []inboxRow
			return l.do(http.MethodGet, "/inbox?"+q.Encode(), nil, &list, func() {
				l.list("SEQ AT METHOD PATH STATUS CODE KEY MOVED", each.Of(list, func(r inboxRow) []string {
					return []string{strconv.FormatInt(r.Seq, 10), r.Came.Format(time.RFC3339), r.Method, r.Path, strconv.Itoa(r.Status), cmp.Or(r.Code, "-"), cmp.Or(r.IdempotencyKey, "-"), r.moved()}
				}), "No requests.")
			})
		})
	c.Flags().StringVar(&place, "place", "", "the place, by id or name (default: the only test place)")
	c.Flags().StringVar(&status, "status", "", "only these statuses, such as 409 or 5xx; separate several with commas")
	c.Flags().StringVar(&path, "path", "", "only paths that contain this")
	c.Flags().StringVar(&key, "key", "", "only this Idempotency-Key")
	c.Flags().IntVar(&limit, "limit", 100, "at most this many (1 to 500)")
	return c
}

func inboxClear(e *env) *cobra.Command {
	var place string
	c := labCommand(e, "clear", "Delete a place's requests and restart its checklist", "  doorlab inbox clear --place plc_...", "no arguments",
		func(l labCall, _ []string) error {
			if place == "" {
				return usagef("inbox clear: --place is missing: name the place whose requests are to be deleted")
			}
			var out struct{ Removed int }
			return l.do(http.MethodDelete, "/inbox?placeId="+url.QueryEscape(l.place(place)), nil, &out, func() { fmt.Fprintf(l.out, "%d removed\n", out.Removed) })
		})
	c.Flags().StringVar(&place, "place", "", "the place, by id or name")
	return c
}

// goLivePoint is a line of the checklist.
type goLivePoint struct {
	Title, State, Says string
	Seqs               []int64
}

// notYetProven is said of a point that no request has shown.
const notYetProven = "not yet proven"

func goLiveCommand(e *env) *cobra.Command {
	var place string
	c := labCommand(e, "go-live", "Check a partner's client by the requests it sent to the test place",
		`  doorlab go-live                              # exit code 4 until every point is proven`, "no arguments",
		func(l labCall, _ []string) error {
			shown := false
			var out struct {
				Ready  bool
				Points []goLivePoint
			}
			err := l.do(http.MethodGet, "/go-live?placeId="+url.QueryEscape(l.placeOrTest(place)), nil, &out, func() {
				states := map[string]int{}
				for _, p := range out.Points {
					state := cmp.Or(map[string]string{golive.Unseen: notYetProven}[p.State], p.State)
					states[state]++
					fmt.Fprintf(l.out, "%s: %s\n        %s\n", state, p.Title, p.Says)
					if len(p.Seqs) > 0 {
						requests := "requests"
						if len(p.Seqs) == 1 {
							requests = "request"
						}
						fmt.Fprintf(l.out, "        %s %s\n", requests, strings.Trim(fmt.Sprint(p.Seqs), "[]"))
						shown = true
					}
				}
				fmt.Fprintf(l.out, "\n%d of %d points proven, %d broken, %d %s\n", states[golive.Proven], len(out.Points), states[golive.Broken], states[notYetProven], notYetProven)
				if shown {
					fmt.Fprintln(l.out, "'doorlab inbox show NUMBER' shows a request.")
				}
			})
			if err == nil && !out.Ready {
				return exit{codeFailed, ""}
			}
			return err
		})
	c.Flags().StringVar(&place, "place", "", "the test place, by id or name (default: the only one)")
	return c
}
