package bug

import "testing"

func TestPlanted(t *testing.T) {
	for _, c := range []struct{ bug, plant, want string }{
		{"", "", ""},
		{BoardActsTwice, "", BoardActsTwice},
		{"", BoardActsTwice, BoardActsTwice},
		{RevocationLost, BoardActsTwice, RevocationLost},
	} {
		t.Setenv("DOORLAB_BUG", c.bug)
		t.Setenv("DOORLAB_PLANT", c.plant)
		if got := Planted(); got != c.want {
			t.Errorf("DOORLAB_BUG=%q DOORLAB_PLANT=%q: %q, want %q", c.bug, c.plant, got, c.want)
		}
	}
	t.Setenv("DOORLAB_BUG", "no-such-bug")
	defer func() {
		if recover() == nil {
			t.Error("an unknown bug was taken for none, want a panic")
		}
	}()
	Planted()
}

// Every bug has a unique name, a promise, and something that catches it.
func TestMuseum(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Museum() {
		switch {
		case seen[b.Name]:
			t.Errorf("%s is listed twice, want unique names", b.Name)
		case b.Promise == "" || len(b.Clauses) == 0:
			t.Errorf("%s breaks no promise or no clause, want both", b.Name)
		case b.By == Check && len(b.With) == 0, b.By == Test && len(b.With) != 2:
			t.Errorf("%s: nothing that catches it is named", b.Name)
		}
		seen[b.Name] = true
	}
	if b, ok := find(BoardActsTwice); !ok || b.By != Check {
		t.Errorf("Find: got %+v, %t, want a bug that a check catches", b, ok)
	}
}
