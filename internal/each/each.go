// Package each turns one list into another, or into a map: what there is of each element, or those that fit.
package each

// Of lists what f makes of each element of in, in order. Without elements the list is empty, not nil.
func Of[T, U any](in []T, f func(T) U) []U {
	out := make([]U, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}

// If lists the elements of in that fit, in order; nil if none does.
func If[T any](in []T, fits func(T) bool) (out []T) {
	for _, v := range in {
		if fits(v) {
			out = append(out, v)
		}
	}
	return out
}

// By groups the elements of in by a key, each group in order.
func By[K comparable, T any](in []T, key func(T) K) map[K][]T {
	out := map[K][]T{}
	for _, v := range in {
		out[key(v)] = append(out[key(v)], v)
	}
	return out
}

// Set is the set of what f makes of the elements of in.
func Set[K comparable, T any](in []T, f func(T) K) map[K]bool {
	out := map[K]bool{}
	for _, v := range in {
		out[f(v)] = true
	}
	return out
}

// Made is the value of a key, which f makes where m has none.
func Made[K comparable, V any](m map[K]V, key K, f func() V) V {
	v, ok := m[key]
	if !ok {
		v = f()
		m[key] = v
	}
	return v
}

// Put gives a key its value; *m may be nil until then.
func Put[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}
