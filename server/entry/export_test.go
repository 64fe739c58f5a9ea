package entry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// CheckBroken: if an opening panics, those who joined it are released, and the next press starts a new one.
func CheckBroken(t *testing.T) {
	s := New(Config{Clock: clock.Real{}})
	b, v := button{"link", "door"}, visit{now: time.Now().Add(onePress), end: func() {}}
	go func() {
		defer func() { _ = recover() }()
		_, _ = s.press(context.Background(), b, v, func() (OpenResult, error) {
			time.Sleep(time.Second) // the bubble's time
			panic("broken")
		})
	}()
	synctest.Wait()
	if _, err := s.press(context.Background(), b, v, nil); !errors.Is(err, errAborted) {
		t.Errorf("joined: got %v, want %v", err, errAborted)
	}
	if _, err := s.press(context.Background(), b, v, func() (OpenResult, error) { return OpenResult{}, nil }); err != nil {
		t.Errorf("the next press: got %v, want no error", err)
	}
}
