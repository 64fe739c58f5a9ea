// Package certs is TLS from files: the certificate a listener presents, reread whenever the files change, and what a
// client trusts. testbed wraps its listeners in it; cmd/doorlab makes clients with it.
package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Files are PEM files of a listener. The zero value means no TLS.
type Files struct {
	Cert     string // the certificate, then those between it and its authority
	Key      string
	ClientCA string // authorities of the certificates that clients must show; "" = they need none
}

// Server presents the certificate that is in the files now.
type Server struct {
	files Files
	told  func(error) // called for files that can't be used

	mu   sync.Mutex
	now  *tls.Config
	leaf *x509.Certificate
	seen []os.FileInfo
	bad  string // what told was told last
}

// Open reads the files; it returns nil if there are none. told is called, once per reason, when changed files can't be
// used; until they can, the previous certificate is presented. Errors: the file system's, and files that aren't a
// certificate with its key.
func Open(f Files, told func(error)) (*Server, error) {
	if f.Cert == "" {
		return nil, nil
	}
	s := &Server{files: f, told: told}
	s.seen, _ = s.look() // first, so that a change after it is noticed
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// Listen returns l with TLS; l itself when s is nil.
func (s *Server) Listen(l net.Listener) net.Listener {
	if s == nil {
		return l
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.current(), nil }})
}

// NotAfter is when the certificate in use expires.
func (s *Server) NotAfter() time.Time {
	s.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaf.NotAfter
}

// Own trusts the certificate that s presents, whatever its name, and nothing else: for calls of a process to its own
// listener.
func (s *Server) Own() *tls.Config {
	if s == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection is stricter
		VerifyConnection: func(c tls.ConnectionState) error {
			s.current()
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(c.PeerCertificates) == 0 || !bytes.Equal(c.PeerCertificates[0].Raw, s.leaf.Raw) {
				return errors.New("the listener doesn't show this process's certificate")
			}
			return nil
		}}
}

// current checks the files and rereads them if they have changed.
func (s *Server) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, err := s.look()
	if err == nil && same(seen, s.seen) {
		return s.now
	}
	if err == nil {
		s.seen = seen
		err = s.read()
	}
	if err == nil {
		s.bad = ""
	} else if s.bad != err.Error() {
		s.bad = err.Error()
		s.told(err)
	}
	return s.now
}

func (s *Server) look() (seen []os.FileInfo, err error) {
	for _, name := range []string{s.files.Cert, s.files.Key, s.files.ClientCA} {
		if name == "" {
			continue
		}
		fi, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		seen = append(seen, fi)
	}
	return seen, nil
}

func same(a, b []os.FileInfo) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !os.SameFile(a[i], b[i]) || a[i].Size() != b[i].Size() || !a[i].ModTime().Equal(b[i].ModTime()) {
			return false
		}
	}
	return true
}

func (s *Server) read() error {
	pair, err := tls.LoadX509KeyPair(s.files.Cert, s.files.Key)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", s.files.Cert, s.files.Key, err)
	}
	if now := (clock.Real{}).Now(); now.After(pair.Leaf.NotAfter) {
		return fmt.Errorf("%s: expired on %s; renew it", s.files.Cert, pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	// HTTP listeners offer one protocol: their limits are those of HTTP/1.1.
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1", "mqtt"}}
	if s.files.ClientCA != "" {
		if c.ClientCAs, err = pool(s.files.ClientCA); err != nil {
			return err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	s.now, s.leaf = c, pair.Leaf
	return nil
}

// pool reads authorities. Errors: the file system's, a file without a certificate.
func pool(name string) (*x509.CertPool, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s contains no certificate in PEM format", name)
	}
	return p, nil
}

// Client is what a client trusts and presents; the zero value trusts the machine's authorities.
type Client struct {
	CA        string // authorities; "" = the machine's
	Cert, Key string // shown to a server that asks; "" = none
}

// Config reads the files. Errors as in Open.
func (c Client) Config() (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if c.CA != "" {
		if out.RootCAs, err = pool(c.CA); err != nil {
			return nil, err
		}
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.Cert, c.Key, err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}
