// Package certstest makes certificates for tests.
package certstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// CA is a certificate authority with a directory for its files.
type CA struct {
	File string // its certificate
	Dir  string

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA makes a certificate authority.
func NewCA(t testing.TB) *CA {
	t.Helper()
	c := &CA{t: t, Dir: t.TempDir(), key: newKey(t)}
	c.File = filepath.Join(c.Dir, "ca.pem")
	now := clock.WallNow()
	c.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "doorlab test authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c.cert, c.cert, &c.key.PublicKey, c.key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.File, "CERTIFICATE", der)
	return c
}

// Issue makes a certificate for 127.0.0.1 and localhost with a common name and serial number, and its key. It replaces
// earlier files of that name atomically, as careful tools do.
func (c *CA) Issue(name string, serial int64) (certFile, keyFile string) {
	c.t.Helper()
	return c.Until(name, serial, clock.WallNow().Add(12*time.Hour))
}

// Until is Issue with an expiry date.
func (c *CA) Until(name string, serial int64, end time.Time) (certFile, keyFile string) {
	c.t.Helper()
	key := newKey(c.t)
	cert := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: end.Add(-24 * time.Hour), NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, cert, c.cert, &key.PublicKey, c.key)
	if err != nil {
		c.t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(c.Dir, name+".pem"), filepath.Join(c.Dir, name+"-key.pem")
	write(c.t, keyFile, "PRIVATE KEY", raw)
	write(c.t, certFile, "CERTIFICATE", der)
	return certFile, keyFile
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func write(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	err := os.WriteFile(name+".new", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		t.Fatal(err)
	}
}
