package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestNestedTooDeeply: a body beyond encoding/json's bound is JSON, and is refused for what it is.
func TestNestedTooDeeply(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	deep := strings.Repeat(`{"by":`, 10_001) + "1" + strings.Repeat("}", 10_001)
	if a := l.call(http.MethodPost, "/clock/advance", deep, token); a.Status != http.StatusBadRequest || a.Error != "invalid_body" || a.Message != "the body is nested too deeply: at most 10,000 levels" {
		t.Errorf("got %d %s %q, want 400 invalid_body with the bound", a.Status, a.Error, a.Message)
	}
}
