package main

import (
	"crypto/tls"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/certs"
)

// brokerFlags say where boards connect to.
type brokerFlags struct {
	url string
	tls certs.Client
}

func (f *brokerFlags) add(c *cobra.Command, def, usage string) {
	s := c.Flags()
	s.StringVar(&f.url, "broker", def, usage)
	s.StringVar(&f.tls.CA, "mqtt-ca", "", "CA certificates (PEM) to trust for the broker and the server's control API (default: the machine's)")
	s.StringVar(&f.tls.Cert, "mqtt-client-cert", "", "certificate (PEM) that the boards show the broker (default: none)")
	s.StringVar(&f.tls.Key, "mqtt-client-key", "", "key of --mqtt-client-cert (PEM)")
}

// address is the broker's host:port, and how to speak to it: nil = in clear.
func (f *brokerFlags) address() (addr string, secure *tls.Config, err error) {
	kind, addr, ok := strings.Cut(f.url, "://")
	kind = strings.ToLower(kind)
	if !ok {
		kind, addr = "tcp", f.url
		if f.tls != (certs.Client{}) {
			kind = "mqtts"
		}
	}
	if address("broker", addr) != nil || !slices.Contains([]string{"tcp", "mqtt", "mqtts", "ssl", "tls"}, kind) {
		return "", nil, usagef("--broker %q: must be host:port, tcp://host:port or mqtts://host:port", f.url)
	}
	if kind == "tcp" || kind == "mqtt" {
		if f.tls != (certs.Client{}) {
			return "", nil, usagef("--mqtt-ca and --mqtt-client-cert need --broker mqtts://%s", addr)
		}
		return addr, nil, nil
	}
	if err := together("mqtt-client-cert", f.tls.Cert, "mqtt-client-key", f.tls.Key); err != nil {
		return "", nil, err
	}
	if secure, err = f.tls.Config(); err != nil {
		return "", nil, usagef("--mqtt-ca, --mqtt-client-cert: %s", reason(err))
	}
	return addr, secure, nil
}
