// Package must ends a test whose preparation fails: three lines for each call that can fail become one.
package must

import "testing"

// OK ends the test if err isn't nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns v, or ends the test if err isn't nil: raw := must.Get(os.ReadFile(path))(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}
