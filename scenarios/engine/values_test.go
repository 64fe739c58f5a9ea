package engine

import (
	"reflect"
	"sync"
	"testing"
)

// TestContains: numbers are compared by value, texts as they are written, and a list is a list whatever it holds.
func TestContains(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, have any
		fits       bool
	}{
		{int64(7), 7.0, true},
		{"7", 7.0, true},
		{"7", "7", true},
		{"007", "7", false},
		{"10%", "0.1", false},
		{[]int{1, 2}, []any{1.0, 2.0}, true},
		{[]string{"a", "b"}, []any{"a", "b"}, true},
		{[]string{"a"}, []any{"b"}, false},
		{map[string]any{"doors": []string{"a"}}, map[string]any{"doors": []any{"a"}, "more": true}, true},
	} {
		if why := contains(c.want, c.have, "body"); (why == "") != c.fits {
			t.Errorf("%v in %v: got %q, want it to fit: %v", c.want, c.have, why, c.fits)
		}
	}
}

// TestOverride: what of the command line is a number.
func TestOverride(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{"36": int64(36), "-3": int64(-3), "0": int64(0), "1.5": 1.5, "1.0": int64(1), "10%": 0.1, "01012345678": "01012345678",
		"+821012345678": "+821012345678", "12345678901234567891": "12345678901234567891", "true": true, "offline": "offline"} {
		if got := override(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", text, got, want)
		}
	}
}

// TestNamesAreSetAtOnce: asking for a table's column doesn't touch the file's names, which other steps set meanwhile. (The
// race detector sees it.)
func TestNamesAreSetAtOnce(t *testing.T) {
	t.Parallel()
	root := &scope{file: &fileRun{}, vars: map[string]any{}}
	row := root.child(map[string]any{"row": 1})
	row.stands = true
	var wg sync.WaitGroup
	wg.Go(func() { root.set("a", 1) })
	wg.Go(func() {
		if !row.ofTable("row") || row.ofTable("a") {
			t.Error("row isn't a column, or a is")
		}
	})
	wg.Wait()
}

// TestIDsStandForThemselves: ids as a world file may write them aren't expressions.
func TestIDsStandForThemselves(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"dor_1", "dor_a-1", "dor_front_door", "brd_x-y_z", "plc_gang-nam"} {
		f, err := Parse("x.yaml", []byte("steps: [{command: {door: "+id+", outcome: reported}}]"))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if v, err := f.Doc.Steps[0].Command.Door.eval(&scope{}); v != id || err != nil {
			t.Errorf("%s: got %v, %v", id, v, err)
		}
	}
}
