package entry

import "sync"

// press is one button of one link.
type press struct{ link, door string }

type opening struct{}

type presses struct {
	mu      sync.Mutex
	running map[press]*opening
}
