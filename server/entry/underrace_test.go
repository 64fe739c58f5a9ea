//go:build race

package entry_test

const underRace = true
