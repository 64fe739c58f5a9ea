package report

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// ErrMerged: what should be merged was merged before. Its shards have the histories, not it.
var ErrMerged = errors.New("it is a merged result itself; name the directories of its shards")

// kept are the shards as the files of a merged result in dir have them, see KeptDir.
func kept(shards []Shard, dir string) []Shard {
	shards = slices.Clone(shards)
	for i := range shards {
		shards[i].Dir = KeptDir(dir, shards[i].Dir)
	}
	return shards
}

// KeptDir is the path of a shard's directory as a merged result in dir keeps it: relative to dir, so that the result can
// be read from anywhere and moved together with its shards. It is absolute if one of the two doesn't exist.
func KeptDir(dir, shard string) string {
	from, err1 := physical(dir)
	to, err2 := physical(shard)
	if rel, err := filepath.Rel(from, to); err == nil && err1 == nil && err2 == nil {
		return rel
	}
	if abs, err := filepath.Abs(shard); err == nil {
		return abs
	}
	return shard
}

// KeptAt finds a shard's directory again. It returns an error if it is the merged result itself.
func KeptAt(dir, kept string) (string, error) {
	path := kept
	if !filepath.IsAbs(kept) {
		path = filepath.Join(dir, kept)
		if at, err := filepath.EvalSymlinks(dir); err == nil {
			path = filepath.Join(at, kept)
		}
	}
	if Within(path, dir) && Within(dir, path) {
		return "", errors.New("it is a merged result that names itself as one of its shards; play that shard again and merge into another directory")
	}
	return path, nil
}

// MergedFrom lists the shards' directories of a merged check; nothing for any other directory.
func MergedFrom(dir string) (dirs []string) {
	res, _ := readVerdicts(dir) // what can't be read says so when it is merged
	for _, s := range res.Shards {
		if at, err := KeptAt(dir, s.Dir); err == nil {
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// physical is a directory's absolute path without symbolic links.
func physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Within reports whether a path is dir or lies in it, whatever links lead there. The path doesn't have to exist.
func Within(path, dir string) bool {
	of, err := os.Stat(dir)
	if err != nil {
		return false
	}
	at, err := filepath.Abs(path)
	for below := ""; err == nil; {
		if there, missing := filepath.EvalSymlinks(at); missing == nil { // the rest is yet to be made
			at = filepath.Join(there, below)
			break
		}
		below = filepath.Join(filepath.Base(at), below)
		at = filepath.Dir(at)
	}
	for err == nil {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, of) {
			return true
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return false
}
