package certs

import (
	"crypto/tls"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/certs/certstest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
)

// listening serves TLS handshakes on a socket and returns what a client is shown.
func listening(t *testing.T, s *Server) (shown func(c *tls.Config) (serial int64, err error)) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	over := s.Listen(l)
	go func() {
		for {
			c, err := over.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = c.Write([]byte("x")); _ = c.Close() }()
		}
	}()
	return func(cfg *tls.Config) (int64, error) {
		c, err := tls.Dial("tcp", l.Addr().String(), cfg)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		if _, err := c.Read(make([]byte, 1)); err != nil { // the server has checked our certificate by now
			return 0, err
		}
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
	}
}

func trusting(t *testing.T, c Client) *tls.Config {
	t.Helper()
	cfg := must.Get(c.Config())(t)
	return cfg
}

// TestChangedFilesAreRead: a new certificate is served without a restart. Files that don't belong together, are
// missing or have expired change nothing and are reported once.
func TestChangedFilesAreRead(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("server", 1)
	var told []string
	s := must.Get(Open(Files{Cert: cert, Key: key}, func(err error) { told = append(told, err.Error()) }))(t)
	shown := listening(t, s)
	trust := trusting(t, Client{CA: ca.File})
	expect := func(serial int64, why ...string) {
		t.Helper()
		for range 2 {
			if got, err := shown(trust); got != serial || err != nil {
				t.Errorf("shown certificate %d, %v; want %d", got, err, serial)
			}
		}
		if len(told) != len(why) {
			t.Fatalf("told %q, want %d reasons", told, len(why))
		}
		for i, w := range why {
			if !strings.Contains(told[i], w) {
				t.Errorf("told %q, want it to say %q", told[i], w)
			}
		}
	}
	expect(1)
	ca.Issue("server", 2)
	expect(2)
	if end := s.NotAfter(); end.Before(clock.WallNow()) {
		t.Errorf("the certificate ends at %s, want a time to come", end)
	}

	another, _ := ca.Issue("another", 3) // a certificate without its key
	must.OK(t, os.Rename(another, cert))
	expect(2, "private key does not match")
	must.OK(t, os.Remove(cert))
	expect(2, "private key does not match", "no such file")
	ca.Until("server", 4, clock.WallNow().Add(-time.Minute))
	expect(2, "private key does not match", "no such file", "expired on")
	ca.Issue("server", 5)
	expect(5, "private key does not match", "no such file", "expired on")
}

// TestClientCertificates: with --mqtt-client-ca, a client needs a certificate from that authority.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	ca, others := certstest.NewCA(t), certstest.NewCA(t)
	cert, key := ca.Issue("server", 1)
	s := must.Get(Open(Files{Cert: cert, Key: key, ClientCA: ca.File}, func(err error) { t.Error(err) }))(t)
	shown := listening(t, s)
	mine, mineKey := ca.Issue("brd_a", 2)
	foreign, foreignKey := others.Issue("brd_a", 3)
	for _, c := range []struct {
		name string
		with Client
		in   bool
	}{
		{"ours", Client{CA: ca.File, Cert: mine, Key: mineKey}, true},
		{"none", Client{CA: ca.File}, false},
		{"another authority's", Client{CA: ca.File, Cert: foreign, Key: foreignKey}, false},
		{"ours, to a server that isn't trusted", Client{CA: others.File, Cert: mine, Key: mineKey}, false},
	} {
		if serial, err := shown(trusting(t, c.with)); (err == nil) != c.in {
			t.Errorf("%s: let in with %d, %v; want in: %v", c.name, serial, err, c.in)
		}
	}
}

// TestOwnCertificate: a process trusts its own listener by its certificate, not by name, and trusts no other.
func TestOwnCertificate(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("server", 1)
	otherCert, otherKey := ca.Issue("other", 2)
	s := must.Get(Open(Files{Cert: cert, Key: key}, func(err error) { t.Error(err) }))(t)
	other := must.Get(Open(Files{Cert: otherCert, Key: otherKey}, func(err error) { t.Error(err) }))(t)
	if _, err := listening(t, s)(s.Own()); err != nil {
		t.Errorf("its own listener: %v, want trust", err)
	}
	if _, err := listening(t, other)(s.Own()); err == nil {
		t.Error("another listener of the same authority is trusted, want an error")
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("server", 1)
	old, oldKey := ca.Until("old", 2, clock.WallNow().Add(-time.Minute))
	for name, c := range map[string]struct {
		files Files
		want  string
	}{
		"missing":         {Files{Cert: ca.Dir + "/none", Key: key}, "no such file"},
		"swapped":         {Files{Cert: key, Key: cert}, "failed to find"},
		"ended":           {Files{Cert: old, Key: oldKey}, "expired on"},
		"no authority":    {Files{Cert: cert, Key: key, ClientCA: key}, "contains no certificate"},
		"authority is no": {Files{Cert: cert, Key: key, ClientCA: ca.Dir + "/none"}, "no such file"},
	} {
		if _, err := Open(c.files, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error that says %q", name, err, c.want)
		}
	}
	if s, err := Open(Files{}, nil); s != nil || err != nil {
		t.Errorf("no files: %v, %v; want neither", s, err)
	}
}
