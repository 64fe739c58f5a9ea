package near

import "strings"

// maxPath is the longest path for which a hint is looked for; every path of ours is shorter.
const maxPath = 200

// Path is the known path that was probably meant by one that doesn't exist; "" if none is near. Known ones may have parts
// such as {id}, which stand for anything: what was in their place isn't repeated, for it may be a secret.
func Path(path string, known []string) string {
	if len(path) > maxPath {
		return ""
	}
	wrong := strings.Split(strings.TrimRight(path, "/"), "/")
	best, least := "", 3 // parts that differ: more than two are another path
	for _, k := range known {
		if n := differing(wrong, strings.Split(k, "/")); n < least {
			best, least = k, n
		}
	}
	return best
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
		case Name(wrong[i], []string{part}) == part:
			n++
		default:
			return many
		}
	}
	return n
}
