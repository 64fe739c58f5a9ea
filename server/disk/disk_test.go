package disk

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// commit begins a commit and returns where its error arrives, and how often it was carried out.
func commit(d *Disk) (result <-chan error, carriedOut *int) {
	out, n := make(chan error, 1), new(int)
	go func() { out <- d.Commit(func() error { *n++; return nil }) }()
	return out, n
}

// wants fails unless a commit has ended as it should, or is still waiting.
func wants(t *testing.T, what string, result <-chan error, want error) {
	t.Helper()
	synctest.Wait()
	select {
	case got := <-result:
		if !errors.Is(got, want) {
			t.Errorf("%s: error %v, want %v", what, got, want)
		}
	default:
		t.Errorf("%s: the commit is still waiting, want error %v", what, want)
	}
}

func waits(t *testing.T, what string, result <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case got := <-result:
		t.Errorf("%s: the commit has ended with error %v, want it to wait", what, got)
	default:
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := New()
		got, n := commit(d)
		wants(t, "ok", got, nil)
		d.Set(Full, 0)
		got, n2 := commit(d)
		wants(t, "full", got, ErrFull)
		if *n != 1 || *n2 != 0 {
			t.Errorf("ok and full carried out %d and %d commits, want 1 and 0", *n, *n2)
		}
		d.Set(Slow, time.Second)
		got, _ = commit(d)
		time.Sleep(999 * time.Millisecond)
		waits(t, "slow, after 999 ms", got)
		time.Sleep(time.Millisecond)
		wants(t, "slow, after a second", got, nil)
		if _, _, hits := d.State(); hits != 2 {
			t.Errorf("a full and a slow disk hit %d commits, want 2", hits)
		}
		d.Set(OK, 0)
		d.Set(Stalled, 0)
		if _, _, hits := d.State(); hits != 0 {
			t.Errorf("a disk that has worked in between hit %d commits, want 0", hits)
		}
	})
}

// TestStateChangesWhileACommitWaits: what a commit is waiting for may change, and then decides about it.
func TestStateChangesWhileACommitWaits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		then       func(*Disk)
		want       error
		carriedOut int
	}{
		{"repaired", func(d *Disk) { d.Set(OK, 0) }, nil, 1},
		{"full", func(d *Disk) { d.Set(Full, 0) }, ErrFull, 0},
		{"dead", (*Disk).Kill, errGone, 0},
		{"repaired when dead", func(d *Disk) { d.Kill(); d.Set(OK, 0) }, errGone, 0},
	} {
		for _, was := range []State{Stalled, Slow} {
			t.Run(string(was)+", "+tc.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					d := New()
					d.Set(was, time.Minute)
					got, n := commit(d)
					time.Sleep(30 * time.Second)
					waits(t, "before", got)
					tc.then(d)
					wants(t, "after", got, tc.want)
					if *n != tc.carriedOut {
						t.Errorf("the commit was carried out %d times, want %d", *n, tc.carriedOut)
					}
				})
			})
		}
	}
}
