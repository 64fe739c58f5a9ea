package limit

import "testing"

// TestNetwork: an IPv4 address or an IPv6 /64 counts as one address, however it is written and whatever its port.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"203.0.113.9:5", "203.0.113.9", true},
		{"203.0.113.9", "203.0.113.10", false},
		{"[2001:db8::1]:5", "2001:db8::2", true},
		{"[2001:db8::1]", "2001:db8::2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"::ffff:203.0.113.9", "203.0.113.9", true},
		{"[fe80::1%eth0]:5", "fe80::2%eth1", true},
		{"pipe", "pipe", true},
		{"pipe", "socket", false},
	} {
		if a, b := Network(c.a), Network(c.b); (a == b) != c.same {
			t.Errorf("%s is %s and %s is %s, want the same: %v", c.a, a, c.b, b, c.same)
		}
	}
}
