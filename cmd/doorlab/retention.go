package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/testbed"
)

// retention is the value of --retention: days by what is kept. What isn't named
// keeps its default.
type retention testbed.Retention

// The API shows 30 days of records; a year of ten is a slip of the keyboard.
const (
	leastDays = 31
	mostDays  = 3650
)

func (r *retention) fields() map[string]*time.Duration {
	return map[string]*time.Duration{"records": &r.Records, "audit": &r.Audit, "grants": &r.Grants}
}

func (r *retention) Set(s string) error {
	names, given := []string{"records", "audit", "grants"}, map[string]bool{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		of := r.fields()[name]
		if of == nil {
			return fmt.Errorf("unknown name %q%s (valid: %s)", name, near.Hint(name, names), strings.Join(names, ", "))
		}
		if given[name] {
			return fmt.Errorf("%s is given twice", name)
		}
		given[name] = true
		n, err := strconv.Atoi(strings.TrimSuffix(value, "d"))
		if err != nil || !strings.HasSuffix(value, "d") {
			return fmt.Errorf("%s=%q: must be a number of days, like 400d", name, value)
		}
		if n < leastDays || n > mostDays {
			return fmt.Errorf("%s=%s: must be %dd to %dd", name, value, leastDays, mostDays)
		}
		*of = time.Duration(n) * 24 * time.Hour
	}
	return nil
}

func (r *retention) String() string {
	d := testbed.Retention(*r).WithDefaults()
	days := func(d time.Duration) int { return int(d / (24 * time.Hour)) }
	return fmt.Sprintf("records=%dd,audit=%dd,grants=%dd", days(d.Records), days(d.Audit), days(d.Grants))
}

func (*retention) Type() string { return "days" }
