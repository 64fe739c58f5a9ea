package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// file is one file of an archive.
type file struct {
	name string
	mode int64
	data []byte
}

// tarball packs files with their directories, in order of name and dated at.
func tarball(files []file, at time.Time) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	made := map[string]bool{".": true}
	for _, f := range files {
		if err := dirs(w, path.Dir(f.name), made, at); err != nil {
			return nil, err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// dirs writes a directory and those above it, each once.
func dirs(w *tar.Writer, dir string, made map[string]bool, at time.Time) error {
	if made[dir] {
		return nil
	}
	if err := dirs(w, path.Dir(dir), made, at); err != nil {
		return err
	}
	made[dir] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatGNU})
}

// debVersion is a version as Debian takes it: it begins with a digit, and a hyphen
// would begin the packager's own.
func debVersion(v string) string {
	v = strings.NewReplacer("-", "~", "_", ".").Replace(strings.TrimPrefix(v, "v"))
	if v == "" || v[0] < '0' || v[0] > '9' {
		v = "0~" + v
	}
	return v
}

// deb is a Debian package: an ar archive of a version, of what dpkg has to know, and
// of what is installed.
func (r release) deb(arch string, binary []byte, pages []file) ([]byte, error) {
	const docs = "./usr/share/doc/doorlab/"
	installed := []file{{name: "./usr/bin/doorlab", mode: 0o755, data: binary}}
	for _, p := range pages {
		base := path.Base(p.name)
		switch {
		case strings.HasPrefix(p.name, "man/"):
			p.name = "./usr/share/man/man1/" + base
		case base == "doorlab.bash":
			p.name = "./usr/share/bash-completion/completions/doorlab"
		case base == "doorlab.zsh":
			p.name = "./usr/share/zsh/vendor-completions/_doorlab"
		case base == "doorlab.fish":
			p.name = "./usr/share/fish/vendor_completions.d/doorlab.fish"
		case base == "NOTICE":
			p.name = docs + "copyright"
		default:
			p.name = docs + base
		}
		installed = append(installed, p)
	}
	size := 0
	for _, f := range installed {
		size += len(f.data)
	}
	control := fmt.Sprintf(`Package: doorlab
Version: %s
Architecture: %s
Maintainer: doorlab <doorlab@localhost>
Section: devel
Priority: optional
Installed-Size: %d
Description: simulator and load tests for unattended-store access control
 Runs the access-control server, its MQTT broker and thousands of simulated door
 boards on a clock that can be moved, breaks things, and checks every promise
 against the relays' own journals.
`, debVersion(r.version), arch, (size+1023)/1024)
	meta, err := tarball([]file{{name: "./control", mode: 0o644, data: []byte(control)}}, r.at)
	if err != nil {
		return nil, err
	}
	data, err := tarball(installed, r.at)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range []file{{name: "debian-binary", data: []byte("2.0\n")}, {name: "control.tar.gz", data: meta}, {name: "data.tar.gz", data: data}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, r.at.Unix(), 0, 0, 0o100644, len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

// component is one entry of a CycloneDX list.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// contents is the list of the modules that are linked into a binary, as CycloneDX.
func (r release) contents(info *debug.BuildInfo) ([]byte, error) {
	list := []component{{Type: "framework", Name: "go", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:generic/go@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	return json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{"timestamp": r.at.Format(time.RFC3339),
			"component": component{Type: "application", Name: "doorlab", Version: r.version, PURL: "pkg:golang/" + info.Main.Path + "@" + r.version}},
		"components": list,
	}, "", "  ")
}
