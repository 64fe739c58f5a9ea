package shard_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/shard"
)

func ExampleParse() {
	s, _ := shard.Parse("2/3")
	for k := range 7 {
		if s.Takes(k) {
			fmt.Print(k, " ")
		}
	}
	_, err := shard.Parse("4/3")
	fmt.Println(err)
	// Output: 1 4 "4/3": must be i/n with i from 1 to n, e.g. 1/4
}

// TestOneTakesEach: of any number of shards exactly one takes each item, and their sizes differ by at most one.
func TestOneTakesEach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, things := rapid.IntRange(1, 40).Draw(t, "shards"), rapid.IntRange(0, 200).Draw(t, "things")
		size := make([]int, n)
		for k := range things {
			taken := 0
			for i := range n {
				s, err := shard.Parse(fmt.Sprintf("%d/%d", i+1, n))
				if err != nil {
					t.Fatalf("shard %d of %d: got %v, want no error", i+1, n, err)
				}
				if s.Takes(k) {
					taken++
					size[i]++
				}
			}
			if taken != 1 {
				t.Fatalf("thing %d is taken by %d of %d shards, want 1", k, taken, n)
			}
		}
		if size[0]-size[n-1] > 1 {
			t.Fatalf("shards have %v things, want sizes that differ by at most 1", size)
		}
	})
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		index, of string
		want      shard.Shard
		bad       bool
	}{
		"neither":          {"", "", shard.Shard{}, false},
		"the first":        {"0", "3", shard.Shard{Index: 1, Of: 3}, false},
		"the last":         {"2", "3", shard.Shard{Index: 3, Of: 3}, false},
		"behind the last":  {"3", "3", shard.Shard{}, true},
		"below the first":  {"-1", "3", shard.Shard{}, true},
		"without a count":  {"0", "", shard.Shard{}, true},
		"without an index": {"", "3", shard.Shard{}, true},
		"no numbers":       {"a", "b", shard.Shard{}, true},
	} {
		got, err := shard.FromEnv(func(k string) string {
			return map[string]string{"DOORLAB_SHARD_INDEX": c.index, "DOORLAB_SHARDS": c.of}[k]
		})
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%s: got %v, %v, want %v, error %v", name, got, err, c.want, c.bad)
		}
	}
}

// TestMissing: the missing shards are named, but no more than fit a line, however many a file claims.
func TestMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   int
		seen []int
		want string
	}{
		{3, []int{1, 2, 3}, ""},
		{4, []int{1, 4}, "2/4, 3/4"},
		{12, []int{1, 3}, "2/12, 4/12, 5/12, 6/12, 7/12, 8/12, 9/12, 10/12 and 2 more"},
		{2_000_000_000, []int{2, 7, -3, 2_000_000_001}, "1/2000000000, 3/2000000000, 4/2000000000, 5/2000000000, 6/2000000000, 8/2000000000, 9/2000000000, 10/2000000000 and 1999999990 more"},
		{0, nil, ""},
	} {
		seen := map[int]string{}
		for _, i := range c.seen {
			seen[i] = "dir"
		}
		if got := shard.Missing(c.of, seen); got != c.want {
			t.Errorf("of %d, with %v: got %q, want %q", c.of, c.seen, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1/4")
	f.Add("/")
	f.Add("0/0")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := shard.Parse(text)
		if err == nil && text != "" && (s.Index < 1 || s.Index > s.Of) {
			t.Fatalf("Parse(%q) = %+v, want an index from 1 to n", text, s)
		}
	})
}
