package api

import (
	"strings"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/server/fail"
)

// maxPath is the longest path for which a hint is looked for; every path of ours is shorter.
const maxPath = 200

// noPath refuses a path that doesn't exist and names the one that was probably meant. The hint is as the documents write
// it, with {id}: what somebody put in its place isn't repeated, for it may be a secret.
func (a *api) noPath(path string) *fail.Error {
	if len(path) > maxPath {
		return errNoPath
	}
	wrong := strings.Split(strings.TrimRight(path, "/"), "/")
	best, least := "", 3 // parts that differ: more than two are another path
	for _, d := range a.docs {
		for _, op := range d.Ops {
			if n := differing(wrong, strings.Split(op.Path, "/")); n < least {
				best, least = op.Path, n
			}
		}
	}
	if best == "" {
		return errNoPath
	}
	return fail.New(fail.NotFound, errNoPath.Message+", did you mean "+best+"?")
}

// differing is how many parts of a path are nearly those of a known one; many if one is something else.
func differing(wrong, known []string) (n int) {
	const many = 1 << 10
	if len(wrong) != len(known) {
		return many
	}
	for i, part := range known {
		switch {
		case strings.HasPrefix(part, "{") && wrong[i] != "" || wrong[i] == part:
		case near.Name(wrong[i], []string{part}) == part:
			n++
		default:
			return many
		}
	}
	return n
}
