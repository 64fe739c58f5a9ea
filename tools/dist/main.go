// Command dist builds what is released: an archive and a Debian package of the static
// binary with man pages and completions, a list of what is in it (CycloneDX), and the
// checksums of them all. The same commit gives the same bytes: nothing of the machine,
// of its clock or of the directory gets in. 'make dist' runs it.
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "dist", "directory for what is built")
	version := flag.String("version", "", "version (default: 0.0.0 and the commit)")
	flag.Parse()
	r, err := describe(*version)
	if err == nil {
		err = r.write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// release is what is built from which commit.
type release struct {
	version, commit string
	at              time.Time // of the commit
}

// describe asks git for the commit.
func describe(version string) (r release, err error) {
	said, err := exec.Command("git", "show", "-s", "--format=%H %ct", "HEAD").Output()
	if err != nil {
		return r, fmt.Errorf("git show: %w; build from a clone", err)
	}
	hash, seconds, _ := strings.Cut(strings.TrimSpace(string(said)), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || len(hash) < 12 {
		return r, fmt.Errorf("git show says %q, want a commit and its time", said)
	}
	r = release{version: version, commit: hash[:12], at: time.Unix(unix, 0).UTC()}
	if changed, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(changed) > 0 {
		r.commit += "+changes"
	}
	r.version = cmp.Or(r.version, "0.0.0-"+r.commit)
	return r, nil
}

// target is a platform. One with a C compiler gets everything, SQLite linked statically;
// one without gets the client commands: all but those that run a server.
type target struct{ os, arch, cc, install string }

var targets = []target{
	{"linux", "amd64", "x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"}, {"linux", "arm64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"},
	{os: "darwin", arch: "arm64"}, {os: "darwin", arch: "amd64"}, {os: "windows", arch: "amd64"},
}

// client says that it has no server.
func (t target) client() bool { return t.os != "linux" }

func (t target) String() string { return t.os + "/" + t.arch }

// program is the name of the binary.
func (t target) program() string {
	if t.os == "windows" {
		return "doorlab.exe"
	}
	return "doorlab"
}

// compiler is what builds a target here, "" when it isn't installed.
func (t target) compiler(host string) string {
	if t.client() {
		return ""
	}
	cc := t.cc
	if t.arch == host {
		cc = "gcc"
	}
	if path, err := exec.LookPath(cc); err == nil {
		return path
	}
	return ""
}

// write builds every target for which there is a compiler.
func (r release) write(out string) error {
	host, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "dist")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	mine := strings.TrimSpace(string(host))
	own := filepath.Join(work, "doorlab-"+mine) // runs here, and writes the pages for all
	if err := r.build(own, target{os: "linux", arch: mine, cc: "gcc"}); err != nil {
		return err
	}
	pages, err := r.pages(own, filepath.Join(work, "pages"))
	if err != nil {
		return err
	}
	for _, t := range targets {
		binary := own
		if t.client() || t.arch != mine {
			if t.cc = t.compiler(mine); t.cc == "" && !t.client() {
				fmt.Printf("%s is left out: its C compiler is not installed (Debian: %s)\n", t, t.install)
				continue
			}
			binary = filepath.Join(work, "doorlab-"+t.os+"-"+t.arch)
			if err := r.build(binary, t); err != nil {
				return err
			}
		}
		if err := r.pack(out, binary, t, pages); err != nil {
			return err
		}
	}
	return sums(out)
}

// build makes the binary: static, or without C.
func (r release) build(binary string, t target) error {
	tags, link, cgo := "netgo osusergo sqlite_omit_load_extension", ` -linkmode external -extldflags "-static -Wl,--build-id=none"`, "CGO_ENABLED=1"
	if t.client() {
		tags, link, cgo = "", "", "CGO_ENABLED=0"
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, "-o", binary,
		"-ldflags", "-s -w -buildid="+link+" -X main.release="+r.version+" -X main.commit="+r.commit, "./cmd/doorlab")
	c.Env = append(os.Environ(), cgo, "GOOS="+t.os, "GOARCH="+t.arch, "CC="+t.cc)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	return nil
}

// pages are the man pages and completions that the binary writes, and the texts of the
// repository, by their path in the archive.
func (r release) pages(binary, dir string) ([]file, error) {
	c := exec.Command(binary, "man", dir)
	c.Env = append(os.Environ(), fmt.Sprint("SOURCE_DATE_EPOCH=", r.at.Unix()))
	if said, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("doorlab man: %w\n%s", err, said)
	}
	var files []file
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		files = append(files, file{name: "man/" + filepath.Base(path), mode: 0o644, data: raw})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		raw, err := exec.Command(binary, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("doorlab completion %s: %w", shell, err)
		}
		files = append(files, file{name: "completions/doorlab." + shell, mode: 0o644, data: raw})
	}
	for name, from := range map[string]string{"README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md", "LICENSE": "LICENSE", "NOTICE": "cmd/doorlab/NOTICE"} {
		raw, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, mode: 0o644, data: raw})
	}
	return files, nil
}

// pack writes archive, package and list of one binary.
func (r release) pack(out, binary string, t target, pages []file) error {
	raw, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("doorlab-%s-%s-%s", r.version, t.os, t.arch)
	list, err := r.contents(info)
	if err != nil {
		return err
	}
	inside := append(slices.Clone(pages), file{name: t.program(), mode: 0o755, data: raw}, file{name: "sbom.cdx.json", mode: 0o644, data: list})
	for i := range inside {
		inside[i].name = name + "/" + inside[i].name
	}
	packed, err := tarball(inside, r.at)
	if err != nil {
		return err
	}
	made := map[string][]byte{name + ".tar.gz": packed, name + ".cdx.json": list}
	if !t.client() {
		if made[fmt.Sprintf("doorlab_%s_%s.deb", debVersion(r.version), t.arch)], err = r.deb(t.arch, raw, pages); err != nil {
			return err
		}
	}
	for file, data := range made {
		if err := os.WriteFile(filepath.Join(out, file), data, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s  %.1f MB\n", filepath.Join(out, file), float64(len(data))/1e6)
	}
	return nil
}

// sums writes SHA256SUMS of everything in the directory.
func sums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries { // sorted by name
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(raw), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
