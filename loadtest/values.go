package loadtest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
)

// Duration is a time.Duration written as "20s".
type Duration time.Duration

// Rate is a number of requests a second, written as 300, "300/s" or "600/m".
type Rate float64

// Share is a part of one, written as "10%" or 0.1.
type Share float64

func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(unquote(b))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a valid duration, write it like 20s or 1m30s", unquote(b))
	}
	*d = Duration(v)
	return nil
}

// MarshalText keeps all digits: a merge computes the shards' requests again from what it reads.
func (r Rate) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(r), 'f', -1, 64) + "/s"), nil
}

// mostRate is the highest number in a rate, whatever its unit.
const mostRate = 1e6

func (r *Rate) UnmarshalText(b []byte) error {
	num, per, _ := strings.Cut(unquote(b), "/")
	div, known := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600}[per]
	v, err := strconv.ParseFloat(num, 64)
	switch {
	case err == nil && known && (v < 0 || v > mostRate):
		return fmt.Errorf("%q is out of range, a rate is 0 to %s", unquote(b), amount.Number(float64(mostRate)))
	case err != nil || !known || math.IsNaN(v):
		return fmt.Errorf("%q is not a valid rate, write it like 300 or 300/s", unquote(b))
	}
	*r = Rate(v / div)
	return nil
}

func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Share) UnmarshalText(b []byte) error {
	v, err := amount.ParseShare(unquote(b))
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("%q is not a valid share, write it like 10%% or 0.1", unquote(b))
	}
	*s = Share(v)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }
func (r Rate) String() string     { return number(float64(r)) + "/s" }
func (s Share) String() string    { return number(float64(s)*100) + "%" }

// Their JSON may be numbers, too.
func (d *Duration) UnmarshalJSON(b []byte) error { return d.UnmarshalText(b) }
func (r *Rate) UnmarshalJSON(b []byte) error     { return r.UnmarshalText(b) }
func (s *Share) UnmarshalJSON(b []byte) error    { return s.UnmarshalText(b) }

func unquote(b []byte) string { return strings.Trim(strings.TrimSpace(string(b)), `"'`) }

// number is the shortest text of v with at most six decimals.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
