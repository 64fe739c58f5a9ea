package k8s

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// plane is a control plane without nodes: it makes pods, and nobody runs them.
type plane struct {
	t    *testing.T
	dir  string
	base string
	web  *http.Client
}

const token = "the-token-of-this-test"

// startPlane runs Debian's etcd, and what make k8s-test has built.
func startPlane(t *testing.T) *plane {
	t.Helper()
	dir := t.TempDir()
	etcd, client, peer, secure := look(t, "etcd"), freePort(t), freePort(t), freePort(t)
	p := &plane{t: t, dir: dir, base: "https://127.0.0.1:" + secure, web: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}} // it signs its certificate itself, at its first start
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"sa.key":     string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		"tokens.csv": token + ",test,test,system:masters\n",
		"kubeconfig": fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\n"+
			"users: [{name: u, user: {token: %s}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n", p.base, token),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := "http://127.0.0.1:" + client
	p.start(etcd, "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", at, "--advertise-client-urls", at, "--listen-peer-urls", "http://127.0.0.1:"+peer,
		"--initial-advertise-peer-urls", "http://127.0.0.1:"+peer, "--initial-cluster", "default=http://127.0.0.1:"+peer)
	p.start(look(t, "kube-apiserver"), "--etcd-servers", at, "--bind-address", "127.0.0.1", "--secure-port", secure, "--cert-dir", filepath.Join(dir, "certs"),
		"--service-cluster-ip-range", "10.96.0.0/24", "--service-account-issuer", "https://doorlab.test", "--service-account-key-file", filepath.Join(dir, "sa.key"),
		"--service-account-signing-key-file", filepath.Join(dir, "sa.key"), "--token-auth-file", filepath.Join(dir, "tokens.csv"),
		"--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount")
	p.until("the API server is ready", func() bool { status, _ := p.ask("GET", "/readyz", nil); return status == 200 })
	return p
}

// control runs the controllers that make pods of workloads.
func (p *plane) control() {
	p.t.Helper()
	p.start(look(p.t, "kube-controller-manager"), "--kubeconfig", filepath.Join(p.dir, "kubeconfig"), "--bind-address", "127.0.0.1", "--secure-port", freePort(p.t),
		"--cert-dir", filepath.Join(p.dir, "manager"), "--leader-elect=false",
		"--controllers", "statefulset-controller,deployment-controller,replicaset-controller,job-controller,disruption-controller")
}

func look(t *testing.T, name string) string {
	t.Helper()
	for _, path := range []string{"../../bin/k8s/" + name, name} {
		if found, err := exec.LookPath(path); err == nil {
			abs, err := filepath.Abs(found)
			if err != nil {
				t.Fatal(err)
			}
			return abs
		}
	}
	t.Fatalf("%s is missing: run make k8s-test (etcd: apt-get install etcd-server)", name)
	return ""
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// start runs a program until the test's end.
func (p *plane) start(name string, args ...string) {
	p.t.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if p.t.Failed() {
			text := said.String()
			p.t.Logf("%s said:\n%s", filepath.Base(name), text[max(0, len(text)-3000):])
		}
	})
}

func (p *plane) until(what string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(200 * time.Millisecond) { // other programs: nothing signals
		if time.Now().After(deadline) {
			p.t.Fatalf("not within three minutes: %s", what)
		}
	}
}

// ask sends JSON and returns the answer; status 0 while nobody listens.
func (p *plane) ask(method, path string, body []byte) (int, []byte) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	if method == "PATCH" {
		r.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	res, err := p.web.Do(r)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	return res.StatusCode, b
}

// apply is kubectl apply, strict about fields that nobody knows.
func (p *plane) apply(kind, apiVersion, name string, object []byte) (int, []byte) {
	p.t.Helper()
	root, plural := "/apis/"+apiVersion, strings.ToLower(kind)+"s"
	if apiVersion == "v1" {
		root = "/api/v1"
	}
	if plural == "networkpolicys" {
		plural = "networkpolicies"
	}
	if kind != "Namespace" {
		root += "/namespaces/doorlab"
	}
	return p.ask("PATCH", root+"/"+plural+"/"+name+"?fieldManager=test&fieldValidation=Strict", object)
}

// list reads the items of a list into out.
func (p *plane) list(path string, out any) {
	p.t.Helper()
	status, b := p.ask("GET", path, nil)
	if status != 200 {
		p.t.Fatalf("GET %s: got %d %s, want 200", path, status, b)
	}
	if err := json.Unmarshal(b, out); err != nil {
		p.t.Fatal(err)
	}
}
