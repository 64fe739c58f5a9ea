package loadtest

import (
	"errors"
	"net"
	"testing"
)

func TestOursAreLoaded(t *testing.T) {
	t.Parallel()
	names := map[string][]net.IP{"server": {net.IPv4(172, 18, 0, 2)}, "mixed": {net.IPv4(10, 0, 0, 1), net.IPv4(8, 8, 8, 8)}, "empty": nil,
		"api.example.com": {net.IPv4(10, 0, 0, 1)}}
	lookup := func(name string) ([]net.IP, error) {
		ips, ok := names[name]
		if !ok {
			return nil, errors.New("no such host")
		}
		return ips, nil
	}
	for host, want := range map[string]bool{"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true, "server": true,
		"10.0.0.1": false, "8.8.8.8": false, "mixed": false, "empty": false, "api.example.com": false, "unknown": false} {
		if got := ours(host, lookup); got != want {
			t.Errorf("ours(%s) = %v, want %v", host, got, want)
		}
	}
}
