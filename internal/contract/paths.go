package contract

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
)

// Missing says why a request leads nowhere, and with which status: the documents have no such path, or not with this method.
// "" if they have it, or if the path isn't a sub-service's. The segment Any stands for any.
func (c *Contract) Missing(method, path string) (why string, status int) {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	if c == nil || len(segments) < 4 || !slices.Contains(subServices, segments[1]) || segments[3] == "openapi.json" || segments[3] == "docs" {
		return "", 0
	}
	taken := map[string]bool{}
	for _, r := range c.routes {
		if r.fits(segments) {
			for m := range r.operations {
				taken[m] = true
			}
		}
	}
	switch {
	case len(taken) == 0:
		return "the API has no path " + path + c.nearest(segments), http.StatusNotFound
	case !taken[method]:
		return fmt.Sprintf("%s takes %s, not %s", path, strings.Join(slices.Sorted(maps.Keys(taken)), ", "), method), http.StatusMethodNotAllowed
	}
	return "", 0
}

// Any stands for a segment that is only known during a run.
const Any = "..."

func (r route) fits(segments []string) bool {
	return len(r.segments) == len(segments) && r.common(segments) == len(segments)
}

// common counts the segments from the left that fit.
func (r route) common(segments []string) (n int) {
	for i, s := range segments {
		if i == len(r.segments) || s != r.segments[i] && s != Any && (s == "" || !strings.HasPrefix(r.segments[i], "{")) {
			return n
		}
		n++
	}
	return n
}

// nearest suggests the path that was probably meant, or what there is beneath the part of a path that exists.
func (c *Contract) nearest(segments []string) string {
	depth := 0
	for _, r := range c.routes {
		depth = max(depth, r.common(segments))
	}
	next := map[string]bool{}
	for _, r := range c.routes {
		if r.common(segments) < depth || len(r.segments) <= depth {
			continue
		}
		next[r.segments[depth]] = true
		meant := slices.Clone(segments)
		if depth < len(segments) {
			meant[depth] = r.segments[depth]
		}
		if r.fits(meant) && depth < len(segments) && near.Name(segments[depth], []string{r.segments[depth]}) != "" {
			return fmt.Sprintf(", did you mean %s?", strings.Join(meant, "/"))
		}
	}
	if len(next) == 0 || depth < 3 {
		return ""
	}
	return fmt.Sprintf("; beneath %s there is %s", strings.Join(segments[:depth], "/"), strings.Join(slices.Sorted(maps.Keys(next)), ", "))
}
