package fault

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/faults"
)

// TestKinds: every fault in the list is implemented as described, in a file of its own.
func TestKinds(t *testing.T) {
	t.Parallel()
	if len(kinds) != len(faults.All) {
		t.Errorf("%d faults are performed, want %d", len(kinds), len(faults.All))
	}
	for i, f := range faults.All {
		k, rank := lookup(f.Name)
		if k == nil || rank != i {
			t.Errorf("%s stands at %d, want %d", f.Name, rank, i)
			continue
		}
		acts := map[faults.Acts]bool{faults.OnCommand: k.incoming != nil || k.outgoing != nil, faults.OnLine: k.line != nil,
			faults.OnClock: k.clock != nil, faults.AtOnce: k.instant != nil}
		for how, does := range acts {
			if does != (how == f.Acts) {
				t.Errorf("%s acts on %s: %v, but the list says that it acts on %s", f.Name, how, does, f.Acts)
			}
		}
		if _, err := os.Stat(strings.ReplaceAll(f.Name, "-", "_") + ".go"); err != nil {
			t.Errorf("%s has no file of its own: %v", f.Name, err)
		}
	}
}

func TestBadSpecs(t *testing.T) {
	t.Parallel()
	with := func(s Spec, f func(*Spec)) Spec { f(&s); return s }
	for _, c := range []struct {
		spec           Spec
		field, nearest string
	}{
		{Spec{Boards: []string{"a1"}}, "fault", ""},
		{spec("ofline"), "fault", "offline"},
		{Spec{Fault: "noop"}, "boards", ""},
		{Spec{Fault: "noop", Boards: []string{"a1"}, PlaceID: "A"}, "boards", ""},
		{Spec{Fault: "noop", Share: new(.5), PlaceID: "A"}, "boards", ""},
		{Spec{Fault: "noop", Boards: []string{"a9"}}, "boards", ""},
		{Spec{Fault: "noop", PlaceID: "Z"}, "placeId", ""},
		{Spec{Fault: "noop", Share: new(0.0)}, "share", ""},
		{Spec{Fault: "noop", Share: new(1.01)}, "share", ""},
		{Spec{Fault: "noop", Share: new(math.NaN())}, "share", ""},
		{with(spec("noop"), func(s *Spec) { s.DoorIDs = []string{"b1/1"} }), "doorIds", ""},
		{with(spec("noop"), func(s *Spec) { s.Commands = []string{"opne"} }), "commands", "open"},
		{with(spec("noop"), func(s *Spec) { s.Nth = -1 }), "nth", ""},
		{with(spec("offline"), func(s *Spec) { s.Nth = 1 }), "nth", ""},
		{with(spec("offline"), func(s *Spec) { s.DoorIDs = []string{"a1/1"} }), "doorIds", ""},
		{with(spec("reboot"), func(s *Spec) { s.Commands = []string{"open"} }), "commands", ""},
		{with(spec("reboot"), func(s *Spec) { s.For = time.Second }), "for", ""},
		{with(spec("noop"), func(s *Spec) { s.For = -1 }), "for", ""},
		{spec("noop", "code", "busy"), "params.code", ""},
		{spec("refuse", "kode", "busy"), "params.kode", "code"},
		{spec("refuse", "code", "jamed"), "params.code", "jammed"},
		{spec("refuse", "code", 3), "params.code", ""},
		{spec("slow", "p50Ms", "x"), "params.p50Ms", ""},
		{spec("slow", "p50Ms", -1), "params.p50Ms", ""},
		{spec("slow", "p50Ms", 1.5), "params.p50Ms", ""},
		{spec("slow", "p50Ms", 10, "p99Ms", 9), "params.p99Ms", ""},
		{spec("late", "p99ms", 9), "params.p99ms", "p99Ms"},
		{spec("skew", "seconds", math.Inf(1)), "params.seconds", ""},
		{spec("flap", "upSec", 0), "params.upSec", ""},
		{spec("lossy", "percent", 101), "params.percent", ""},
		{spec("lossy", "delayMs", -5), "params.delayMs", ""},
	} {
		s, board := newSet(2)
		id, err := s.Arm(c.spec)
		var got *faults.Bad
		if !errors.As(err, &got) || got.Field != c.field || got.Nearest != c.nearest || got.Reason == "" || id != "" {
			t.Errorf("%+v: %q, %v; want %s, nearest %q", c.spec, id, err, c.field, c.nearest)
		}
		if len(s.List()) != 0 || board.calls != nil {
			t.Errorf("%+v: armed or notified in spite of the error, want nothing", c.spec)
		}
	}
}

func TestTestPlaceTakesNoFault(t *testing.T) {
	t.Parallel()
	s, _ := newSet(2)
	for _, spec := range []Spec{
		{Fault: "noop", Boards: []string{"a1", "t1"}}, {Fault: "reboot", PlaceID: "T"},
	} {
		if _, err := s.Arm(spec); !errors.Is(err, ErrTestPlace) {
			t.Errorf("%+v: got %v, want err to be ErrTestPlace", spec, err)
		}
	}
	arm(t, s, Spec{Fault: "noop", Share: new(1.0)})
	if got := s.List()[0].Boards; !slices.Equal(got, []string{"a1", "a2", "b1"}) {
		t.Errorf("all of the fleet is %v, want %v", got, []string{"a1", "a2", "b1"})
	}
}

func TestParamsFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec Spec
		want map[string]any
	}{
		{spec("slow", "p50Ms", 6000), map[string]any{"p50Ms": 6000.0, "p99Ms": 6000.0}},
		{spec("slow", "p99Ms", json.Number("100")), map[string]any{"p50Ms": 100.0, "p99Ms": 100.0}},
		{spec("skew", "ppm", int64(20)), map[string]any{"seconds": 0.0, "ppm": 20.0}},
		{spec("refuse"), map[string]any{"code": "busy"}},
		{spec("offline"), nil},
	} {
		s, _ := newSet(1)
		arm(t, s, c.spec)
		if d := cmp.Diff(c.want, s.List()[0].Params); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	r := Request{Fault: "refuse", Share: new(.1), DoorIDs: []string{"d"}, Commands: []string{"open"}, Nth: new(2), For: new("10m"), Params: map[string]any{"code": "busy"}}
	got, err := r.Spec()
	want := Spec{Fault: "refuse", Share: new(.1), DoorIDs: []string{"d"}, Commands: []string{"open"}, Nth: 2, For: 10 * time.Minute, Params: map[string]any{"code": "busy"}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("got error %v, want none; -want +got:\n%s", err, d)
	}
	for text, want := range map[string]string{"soon": "a duration such as 10m or 2d", "-1s": "above 0", "0s": "above 0", "": "a duration such as 10m or 2d"} {
		if _, err := (Request{For: &text}).Spec(); err == nil || err.Error() != "for must be "+want {
			t.Errorf("for %q: got %v, want %s", text, err, want)
		}
	}
	if got, err := (Request{For: new("2d")}).Spec(); err != nil || got.For != 48*time.Hour {
		t.Errorf("for 2d: got %s, %v, want 48h", got.For, err)
	}
	if _, err := (Request{For: new("99999999h")}).Spec(); err == nil || err.Error() != "for is too long: at most 2562047h" {
		t.Errorf("for 99999999h: got %v, want the longest", err)
	}
	for field, r := range map[string]Request{"doorIds": {DoorIDs: []string{}}, "commands": {Commands: []string{}}} {
		if _, err := r.Spec(); err == nil || err.Error() != field+" must not be empty; leave it out for all" {
			t.Errorf("empty %s: got %v, want it refused", field, err)
		}
	}
	if _, err := (Request{Nth: new(0)}).Spec(); err == nil || err.Error() != "nth must be 1 or more" {
		t.Errorf("nth 0: got %v, want 1 or more", err)
	}
}

// TestAllDetached: a fault whose boards are all detached is refused because of that; one is enough for it.
func TestAllDetached(t *testing.T) {
	t.Parallel()
	gone := Info{ID: "a1", PlaceID: "A", Detached: true}
	for _, spec := range []Spec{{Fault: "noop", PlaceID: "A"}, {Fault: "noop", Share: new(.5)}} {
		s := New(Config{Boards: func() []Info { return []Info{gone, {ID: "t1", PlaceID: "T", Test: true}} }})
		if _, err := s.Arm(spec); !errors.Is(err, ErrDetached) {
			t.Errorf("%+v: got %v, want %v", spec, err, ErrDetached)
		}
		s = New(Config{Boards: func() []Info { return []Info{gone, {ID: "a2", PlaceID: "A"}} }})
		if id, err := s.Arm(spec); err != nil || len(s.List()[0].Boards) != 1 {
			t.Errorf("%+v with a board: got %q, %v, want it armed on that", spec, id, err)
		}
	}
}
