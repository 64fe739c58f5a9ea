package mask

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/apikey"
)

const entryToken = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"

// TestMask: secrets are masked wherever they appear; everything else stays.
func TestMask(t *testing.T) {
	t.Parallel()
	key := apikey.Derive(apikey.TestPrefix, "s", "p", "l")
	other := apikey.Derive("shop_", "s", "p", "l")
	for in, want := range map[string]string{
		`{"key":"` + key + `"}`:                          `{"key":"sact_[hidden]"}`,
		`{ "key" : "nonsense" }`:                         `{ "key" : "[hidden]" }`,
		`{"phone":"01012345678","name":"Ann"}`:           `{"phone":"010-****-5678","name":"Ann"}`,
		`{"phone": "010 1234 5678"}`:                     `{"phone": "010-****-5678"}`,
		`{"phone":"12345678"}`:                           `{"phone":"****5678"}`,
		`{"phone":"ann"}`:                                `{"phone":"[hidden]"}`,
		`{"phone":""}`:                                   `{"phone":""}`,
		`{"externalRef":"order-01012345678"}`:            `{"externalRef":"order-010-****-5678"}`,
		`{"externalRef":"guest_01012345678_a"}`:          `{"externalRef":"guest_010-****-5678_a"}`,
		`{"name":"call 010-1234-5678 or +821012345678"}`: `{"name":"call 010-****-5678 or +821-****-5678"}`,
		`{"items":[{"phone":"01012345678"}]}`:            `{"items":[{"phone":"010-****-5678"}]}`,
		`{"data":{"entryToken":"` + entryToken + `","url":"http://x/entry?t=` + entryToken + `"}}`: `{"data":{"entryToken":"[hidden]","url":"http://x/entry?t=[token]"}}`,
		`{"accessToken":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJrZXlfMSJ9.abc"}`:                          `{"accessToken":"[hidden]"}`,
		`note eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJrZXlfMSJ9.` + entryToken:                             `note [token].[token].[token]`,
		"my key is " + other:                                     "my key is shop_[hidden]",
		"sact_typo1234567":                                       "sact_[hidden]",
		`{"permitId":"pmt_0012345678901234567890"}`:              `{"permitId":"pmt_0012345678901234567890"}`,
		`550e8400-e29b-41d4-a716-446655440000`:                   `550e8400-e29b-41d4-a716-446655440000`,
		`{"startsAt":"2026-10-05T09:00:00.000Z","minutes":1440}`: `{"startsAt":"2026-10-05T09:00:00.000Z","minutes":1440}`,
		`{"total":12345678}`:                                     `{"total":****5678}`,
		`{"phone":"0101234`:                                      `{"phone":"[hidden]`,
		`{"phone":"010\"12345678"}`:                              `{"phone":"010-****-5678"}`,
		`t=` + entryToken + `&doorId=dor_0001`:                   `t=[token]&doorId=dor_0001`,
		`{"a":["key","01012345678"]}`:                            `{"a":["key","010-****-5678"]}`,
		`{"key":{"phone":"01012345678"}}`:                        `{"key":{"phone":"010-****-5678"}}`,
		`123456789012345678`:                                     hidden,
		``:                                                       ``,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%s)\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestMaskNumbersInGroups: a telephone number is masked however people write it; what only looks similar stays.
func TestMaskNumbersInGroups(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"82-10-1234-5678":                     "821-****-5678",
		"+82 10-1234-5678":                    "+821-****-5678",
		"+82 (0)10-1234-5678":                 "+820-****-5678",
		"001-82-10-1234-5678":                 "001-****-5678",
		"010 1234 5678":                       "010-****-5678",
		"010.1234.5678":                       "010-****-5678",
		"010 - 1234 - 5678":                   "010-****-5678",
		"(010) 1234-5678":                     "(010-****-5678",
		"02 123 4567":                         "****4567",
		"010 12345678":                        "010-****-5678",
		"+1 212 555 1234":                     "+121-****-1234",
		"guest-7-010-1234-5678":               "guest-7-010-****-5678",
		"Kim_010-1234-5678_a":                 "Kim_010-****-5678_a",
		"010 1234 5678, 02 123 4567":          "010-****-5678, ****4567",
		"010-1234-5678 2026-10-05 10:00":      "010-****-5678 2026-10-05 10:00",
		"2026-10-05 010 1234 5678":            "2026-10-05 010-****-5678",
		"/x?q=010+1234+5678&r=82%2010":        "/x?q=010-****-5678&r=82%2010",
		"/x/010%201234%205678":                "/x/010-****-5678",
		`{"name":"010 1234 5678","n":1}`:      `{"name":"010-****-5678","n":1}`,
		`{"phone":"+82 10 1234 5678"}`:        `{"phone":"821-****-5678"}`,
		"{phone: 010 1234 5678}":              "{phone: 010-****-5678}",
		"010-1234-5678 1" + entryToken:        "010-****-5678 [token]",
		"82-10-1234 1234" + entryToken:        "82-10-1234 [token]",
		"010 1234 pmt_0012345678901234567":    "010 1234 pmt_0012345678901234567",
		"2026-10-05T10:00":                    "2026-10-05T10:00",
		"2026-10-05 10:00":                    "2026-10-05 10:00",
		"2026-10-05 2026-11-06":               "2026-10-05 2026-11-06",
		"09:00 2026-10-05 09:30":              "09:00 2026-10-05 09:30",
		"2026-10-05T09:00:05.1234567+09:00":   "2026-10-05T09:00:05.1234567+09:00",
		`"2026-10-05T09:00:05.123456789Z"`:    `"2026-10-05T09:00:05.123456789Z"`,
		"2026-10-05T09:00:05.012345678+09:00": "2026-10-05T09:00:05.012345678+09:00",
		"2026-10-05T09:00:05.01012345678":     "2026-10-05T09:00:05.010-****-5678",
		"at 09:00:05.123456789":               "at 09:00:05.****6789",
		"82.165.122.34:8080 0.0.0.0:8080":     "82.165.122.34:8080 0.0.0.0:8080",
		"0900 - 1800, 0.1234567, 8 200 000":   "0900 - 1800, 0.1234567, 8 200 000",
		"[0, 1, 2, 3, 4, 5, 6, 7, 8888]":      "[0, 1, 2, 3, 4, 5, 6, 7, 8888]",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%s)\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestMaskNeverLeaks: whatever surrounds a phone, key or token, and wherever the text is truncated, the secret isn't
// in what is kept.
func TestMaskNeverLeaks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom([]string{"01012345678", "0212345678", "821012345678", "010-1234-5678", "82-10-1234-5678", "010 1234 5678", "02.123.4567", entryToken, apikey.Derive(apikey.LivePrefix, "s", "p", "x")}).Draw(t, "secret")
		around := rapid.SampledFrom([]string{`{"phone":"%s"}`, `{"name":"a %s b"}`, `%s`, `x-%s-y`, `%s_y`, `x_%s`, `{"externalRef":"%s"}`, `{"a":"\"%s"}`, `[%s]`, `http://h/e?t=%s&x=1`, `{"%s":1}`, "%s\n"}).Draw(t, "around")
		before := rapid.StringMatching(`[ -~]{0,20}[ ,{\["]`).Draw(t, "before")
		text := before + fmt.Sprintf(around, secret)
		if got := Text(text); strings.Contains(got, secret) {
			t.Fatalf("Text(%q) = %q still has %q", text, got, secret)
		}
	})
}
