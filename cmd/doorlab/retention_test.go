package main

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

func TestRetentionFlag(t *testing.T) {
	t.Parallel()
	var r retention
	if got := r.String(); got != "records=400d,audit=90d,grants=400d" {
		t.Errorf("the default is %s, want records=400d,audit=90d,grants=400d", got)
	}
	must.OK(t, r.Set("audit=180d, records=31d"))
	if got := r.String(); got != "records=31d,audit=180d,grants=400d" || r.Audit != 180*24*time.Hour {
		t.Errorf("got %s", got)
	}
	for in, want := range map[string]string{
		"record=40d":          `did you mean "records"?`,
		"audit=40d,audit=50d": "audit is given twice",
		"audit":               "number of days",
		"audit=40":            "number of days",
		"audit=4h":            "number of days",
		"records=30d":         "31d to 3650d",
		"grants=10000d":       "31d to 3650d",
		"":                    "valid: records, audit, grants",
	} {
		if err := r.Set(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}
