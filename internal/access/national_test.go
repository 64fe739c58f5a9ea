package access

import "testing"

func TestNational(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"010-1234-5678":        "01012345678",
		"+82 10 1234 5678":     "01012345678",
		" +82 (0)10.1234.5678": "01012345678",
		"+82-2-312-3456":       "023123456",
		"+82 51 123 4567":      "0511234567",
		"1588-1234":            "15881234",
		"+82 1588-1234":        "15881234",
		"+82 1661 0000":        "16610000",
		"+1 212 555 0100":      "+12125550100",
		"+81 3 1234 5678":      "+81312345678",
		"unknown":              "",
		"":                     "",
	} {
		if got := National(number); got != want {
			t.Errorf("%q: got %q, want %q", number, got, want)
		}
	}
}
