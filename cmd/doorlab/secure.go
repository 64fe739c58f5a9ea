package main

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/certs"
	"github.com/doorlab/doorlab/internal/client"
)

// listenerFiles are the certificates of up and serve.
type listenerFiles struct{ http, mqtt certs.Files }

func (f *listenerFiles) add(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.http.Cert, "tls-cert", "", "certificate chain (PEM) of the public API, and of a control API off loopback; reloaded when it changes (default: no TLS)")
	s.StringVar(&f.http.Key, "tls-key", "", "key of --tls-cert (PEM)")
	s.StringVar(&f.mqtt.Cert, "mqtt-tls-cert", "", "certificate chain (PEM) of the broker; reloaded when it changes (default: no TLS)")
	s.StringVar(&f.mqtt.Key, "mqtt-tls-key", "", "key of --mqtt-tls-cert (PEM)")
	s.StringVar(&f.mqtt.ClientCA, "mqtt-client-ca", "", "CA certificates (PEM) that must have signed the boards' certificates (default: boards need none)")
}

// check reports a flag without the one that belongs to it. link is the simulated boards'.
func (f *listenerFiles) check(link string) error {
	if err := cmp.Or(together("tls-cert", f.http.Cert, "tls-key", f.http.Key), together("mqtt-tls-cert", f.mqtt.Cert, "mqtt-tls-key", f.mqtt.Key)); err != nil {
		return err
	}
	for flag, files := range map[string]certs.Files{"tls-cert": f.http, "mqtt-tls-cert": f.mqtt} {
		if _, err := certs.Open(files, nil); err != nil {
			return usagef("--%s: %s", flag, reason(err))
		}
	}
	switch {
	case f.mqtt.ClientCA != "" && f.mqtt.Cert == "":
		return usagef("--mqtt-client-ca needs --mqtt-tls-cert and --mqtt-tls-key")
	case f.mqtt.ClientCA != "" && link == "tcp":
		return usagef("--mqtt-client-ca: the simulated boards of this process have no certificates; use --link memory, or 'doorlab boards --mqtt-client-cert'")
	}
	return nil
}

func together(a, valueA, b, valueB string) error {
	if valueA != "" && valueB == "" {
		a, b = b, a
	}
	if (valueA == "") != (valueB == "") {
		return usagef("--%s needs --%s", b, a)
	}
	return nil
}

// trust is what a command trusts when it speaks https.
type trust struct{ ca string }

func (t *trust) add(c *cobra.Command) {
	c.Flags().StringVar(&t.ca, "ca", "", "CA certificates (PEM) to trust over https (default: the machine's)")
}

// config is nil for the machine's authorities.
func (t *trust) config() (*tls.Config, error) {
	if t.ca == "" {
		return nil, nil
	}
	c, err := certs.Client{CA: t.ca}.Config()
	if err != nil {
		return nil, usagef("--ca: %s", reason(err))
	}
	return c, nil
}

// http is nil for the machine's authorities.
func (t *trust) http() (*http.Client, error) {
	c, err := t.config()
	return client.Trusting(c), err
}

const tokenFileUsage = "file with the control token, to keep it out of the process list"

// secretOf is a token, or what is in the file that holds it. Spaces are refused, too: HTTP drops them at an end.
func secretOf(token, file string) (string, error) {
	if file == "" {
		if unsendable(token) {
			return "", usagef("--control-token: must have no spaces and no control characters, because clients send it in a header")
		}
		return token, nil
	}
	if token != "" {
		return "", usagef("give --control-token or --control-token-file, not both")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", usagef("--control-token-file: %s", reason(err))
	}
	token = strings.TrimSpace(string(b))
	if token == "" || unsendable(token) {
		return "", usagef("--control-token-file: %s: must hold one token and nothing else", file)
	}
	return token, nil
}

func unsendable(token string) bool {
	return strings.ContainsFunc(token, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
}
