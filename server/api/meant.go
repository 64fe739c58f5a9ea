package api

import (
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/server/fail"
)

// noPath refuses a path that doesn't exist and names the one that was probably meant, as the documents write it.
func (a *api) noPath(path string) *fail.Error {
	var known []string
	for _, d := range a.docs {
		for _, op := range d.Ops {
			known = append(known, op.Path)
		}
	}
	if meant := near.Path(path, known); meant != "" {
		return fail.New(fail.NotFound, errNoPath.Message+", did you mean "+meant+"?")
	}
	return errNoPath
}
