package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func waitCommand(e *env) *cobra.Command {
	var url string
	var timeout time.Duration
	var trusted trust
	c := &cobra.Command{
		Use:   "wait",
		Short: "Wait until a server is ready",
		Example: `  doorlab wait                                     # default address, up to 30 s
  doorlab wait --url http://127.0.0.1:9000 --timeout 2m`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cmp.Or(serverURL("url", url), positive("timeout", timeout)); err != nil {
				return err
			}
			url = strings.TrimSuffix(url, "/")
			hc, err := trusted.http()
			if err != nil {
				return err
			}
			return waitReady(c.Context(), e, hc, url, timeout)
		},
	}
	c.Flags().StringVar(&url, "url", "http://127.0.0.1:8080", "base URL of the server")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait")
	trusted.add(c)
	return c
}

// waitReady asks with hc, nil = the default client.
func waitReady(parent context.Context, e *env, hc *http.Client, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	why, try := "no answer", "is 'doorlab up' or 'doorlab serve' running there?"
	hc = cmp.Or(hc, http.DefaultClient)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
		if err != nil {
			return usagef("--url %q: %s", url, err)
		}
		resp, err := hc.Do(req)
		switch {
		case err == nil:
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				fmt.Fprintln(e.err, url, "is ready")
				return nil
			}
			why = resp.Status
			if resp.StatusCode == http.StatusBadRequest && strings.HasPrefix(strings.ToLower(url), "http://") {
				try = "does it want https?"
			}
		case ctx.Err() == nil:
			why = errors.Unwrap(err).Error()
			try = tlsHint(err, try)
		}
		if !waited(ctx, 100*time.Millisecond) {
			if parent.Err() != nil {
				return exit{codeInterrupted, "interrupted"}
			}
			return exit{codeUnreachable, fmt.Sprintf("%s was not ready within %s: %s; %s", url, timeout, why, try)}
		}
	}
}

// tlsHint says what to do about an error that TLS is the reason for; otherwise it returns other.
func tlsHint(err error, other string) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "pass --ca with the certificate of the authority that signed the server's"
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "it speaks http, not https"
	}
	return other
}
