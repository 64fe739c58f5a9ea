package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

var sample = release{version: "v1.2.3-rc1", commit: "0123456789ab", at: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}

var some = []file{{name: "man/doorlab.1", mode: 0o644, data: []byte("page")}, {name: "completions/doorlab.bash", mode: 0o644, data: []byte("complete")}, {name: "NOTICE", mode: 0o644, data: []byte("odd")}}

// members reads an ar archive.
func members(t *testing.T, raw []byte) map[string][]byte {
	t.Helper()
	rest, found := bytes.CutPrefix(raw, []byte("!<arch>\n"))
	if !found {
		t.Fatalf("it begins with %q, want an ar archive", raw[:8])
	}
	out := map[string][]byte{}
	for len(rest) > 0 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || string(rest[58:60]) != "`\n" {
			t.Fatalf("header %q: %v", rest[:60], err)
		}
		out[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	return out
}

// names are the files of a tar.gz with their modes, in order.
func names(t *testing.T, raw []byte) (out []string) {
	t.Helper()
	z := must.Get(gzip.NewReader(bytes.NewReader(raw)))(t)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(sample.at) || h.Uid != 0 {
			t.Errorf("%s is of %s and user %d, want the commit's time and root", h.Name, h.ModTime, h.Uid)
		}
		out = append(out, h.Name+" "+strconv.FormatInt(h.Mode, 8))
	}
}

func TestDeb(t *testing.T) {
	t.Parallel()
	raw := must.Get(sample.deb("amd64", []byte("binary"), some))(t)
	got := members(t, raw)
	if string(got["debian-binary"]) != "2.0\n" {
		t.Errorf("debian-binary is %q, want 2.0", got["debian-binary"])
	}
	if have := strings.Join(names(t, got["control.tar.gz"]), ","); have != "./control 644" {
		t.Errorf("control.tar.gz has %s, want ./control", have)
	}
	have := strings.Join(names(t, got["data.tar.gz"]), ",")
	for _, want := range []string{"./usr/bin/doorlab 755", "./usr/share/man/man1/doorlab.1 644", "./usr/share/bash-completion/completions/doorlab 644", "./usr/share/doc/doorlab/copyright 644", "usr/share/man/ 755"} {
		if !strings.Contains(have, want) {
			t.Errorf("data.tar.gz has %s, want %s in it", have, want)
		}
	}
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Log("dpkg-deb isn't there: the package was read by this test only")
		return
	}
	path := filepath.Join(t.TempDir(), "x.deb")
	must.OK(t, os.WriteFile(path, raw, 0o600))
	if said, err := exec.Command(dpkg, "--field", path, "Version").CombinedOutput(); err != nil || strings.TrimSpace(string(said)) != "1.2.3~rc1" {
		t.Errorf("dpkg-deb says version %q, %v; want 1.2.3~rc1", said, err)
	}
	if said, err := exec.Command(dpkg, "--contents", path).CombinedOutput(); err != nil || !strings.Contains(string(said), "./usr/bin/doorlab") {
		t.Errorf("dpkg-deb lists %s, %v; want /usr/bin/doorlab in it", said, err)
	}
}

// The same commit gives the same bytes, in whatever order the files come.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	one, err1 := tarball(some, sample.at)
	two, err2 := tarball([]file{some[2], some[0], some[1]}, sample.at)
	if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
		t.Errorf("two archives of the same files differ (%v, %v)", err1, err2)
	}
}

func TestVersionsOfDebian(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"v1.2.3": "1.2.3", "1.2.3-rc1": "1.2.3~rc1", "0.0.0-0123456789ab": "0.0.0~0123456789ab", "main": "0~main", "": "0~"} {
		if got := debVersion(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// The list names every module that is linked, with a version.
func TestContents(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "github.com/doorlab/doorlab"},
		Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}, {Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0"}}}}
	raw := must.Get(sample.contents(info))(t)
	var list struct {
		BOMFormat  string      `json:"bomFormat"`
		Components []component `json:"components"`
	}
	must.OK(t, json.Unmarshal(raw, &list))
	var got []string
	for _, c := range list.Components {
		got = append(got, c.PURL)
	}
	if want := "pkg:generic/go@1.26.0 pkg:golang/example.com/a@v1.0.0 pkg:golang/example.com/c@v2.0.0"; list.BOMFormat != "CycloneDX" || strings.Join(got, " ") != want {
		t.Errorf("%s lists %s, want CycloneDX with %s", list.BOMFormat, strings.Join(got, " "), want)
	}
}
