// Package each turns one list into another.
package each

// Of is what f makes of each element of in, in order; an empty list, not nil, if there are none.
func Of[T, U any](in []T, f func(T) U) []U {
	out := make([]U, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}
