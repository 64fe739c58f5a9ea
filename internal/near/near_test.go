package near

import "testing"

// TestOnlyWhatIsNear: typing errors from a review, with the names that were suggested.
func TestOnlyWhatIsNear(t *testing.T) {
	t.Parallel()
	for wrong, c := range map[string]struct {
		known []string
		want  string
	}{
		"watch":     {[]string{"data", "seed"}, ""},
		"failed":    {[]string{"seed", "data"}, ""},
		"list":      {[]string{"link", "seed"}, ""},
		"shop":      {[]string{"boot"}, ""},
		"faults":    {[]string{"rate"}, ""},
		"expct":     {[]string{"expect", "except"}, "expect"},
		"form":      {[]string{"for", "from"}, "for"},
		"fone":      {[]string{"name", "phone"}, "phone"},
		"ofline":    {[]string{"oneway-up", "offline"}, "offline"},
		"too":       {[]string{"by", "to"}, "to"},
		"phneEnbld": {[]string{"phoneEnabled"}, "phoneEnabled"},
		"":          {[]string{"a"}, ""},
		"p99":       {[]string{"p99.9_all", "p99_all", "p99_offline"}, "p99_all"},
		"of":        {[]string{"outage-of-all"}, ""},
	} {
		if got := Name(wrong, c.known); got != c.want {
			t.Errorf("Name(%q, %q) = %q, want %q", wrong, c.known, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"form", "from", 1}, {"abcd", "badc", 2}, {"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestSlip: one slip is certain enough to say so unasked; two, or a short name, are not.
func TestSlip(t *testing.T) {
	t.Parallel()
	known := []string{"DOORLAB_BOARDS", "DOORLAB_SHARE", "key"}
	for name, want := range map[string]string{"DOORLAB_BORDS": "DOORLAB_BOARDS", "DOORLAB_BOADRS": "DOORLAB_BOARDS", "DOORLAB_SCALE": "", "ke": "", "DOORLAB_BOARDS": ""} {
		if got := Slip(name, known); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
