package openapi

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/fail"
)

// TestHalfPairs: an escaped surrogate without its other half isn't a character. If it were accepted, all such
// references would be equal.
func TestHalfPairs(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{
		`"\ud83d\ude00"`: true, `"\uD83D\uDE00 \u0041"`: true, `"\\ud800"`: true, `"\\\\ud800"`: true, `"\n\"\uac00"`: true, `"\ufffd"`: true,
		`"\ud800"`: false, `"\udfff"`: false, `"a\uDBFFb"`: false, `"\ude00\ud83d"`: false, `"\ud83d\ud83d\ude00"`: false,
		`"\ud83d\\ude00"`: false, `"\\\ud800"`: false, `"\ud83d\n"`: false,
	} {
		for _, body := range []string{`{"name":` + in + `}`, `{` + in + `:1}`, `{"a":[{"b":` + in + `}]}`} {
			_, err := decode([]byte(body), "application/json", false, false)
			if (err == nil) != ok || err != nil && (fail.CodeOf(err) != fail.InvalidBody || !strings.Contains(err.Error(), "surrogate")) {
				t.Errorf("%s: got %v, want it taken: %t", body, err, ok)
			}
		}
	}
}

// TestFormFieldsGivenTwice: nobody can know which value is meant. Fields that the document doesn't have don't matter.
func TestFormFieldsGivenTwice(t *testing.T) {
	t.Parallel()
	for _, d := range must.Get(Load())(t) {
		for _, op := range d.Ops {
			if op.ID != "entryOpen" {
				continue
			}
			for form, want := range map[string]string{
				"t=a&doorId=b": "", "t=a&doorId=b&x=1&x=2": "",
				"t=a&t=b&doorId=c": "t is given more than once", "doorId=c&t=a&doorId=c": "doorId is given more than once",
			} {
				var v map[string]any
				err := op.Body.Decode([]byte(form), "application/x-www-form-urlencoded", &v)
				if e, ok := errors.AsType[*fail.Error](err); ok != (want != "") || ok && (e.Code != fail.InvalidField || e.Message != want) {
					t.Errorf("%s: got %v, want %q", form, err, want)
				}
			}
		}
	}
}

// TestHalfPairsInRows: in a body with rows, every half becomes a NUL, for which its row fails alone, and whole characters
// stay.
func TestHalfPairsInRows(t *testing.T) {
	t.Parallel()
	body := `{"source":"s","items":[{"name":"a\udbff\ud800"},{"name":"\ude00\ud83d"},{"name":"\ud83d\ude00\\ud800"}]}`
	got, err := decode([]byte(body), "application/json", false, true)
	want := map[string]any{"source": "s", "items": []any{map[string]any{"name": "a\x00\x00"}, map[string]any{"name": "\x00\x00"}, map[string]any{"name": "\U0001F600\\ud800"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, outside := range []string{`{"source":"a\ud800","items":[]}`, `{"items":[{"name":"\ud800"}],"source": "\udfff"}`, `{"items":{"name":"\ud800"}}`} {
		if _, err := decode([]byte(outside), "application/json", false, true); fail.CodeOf(err) != fail.InvalidBody || !strings.Contains(err.Error(), "half of a surrogate pair") {
			t.Errorf("%s: got %v, want that the body has half of a surrogate pair", outside, err)
		}
	}
	docs := must.Get(Load())(t)
	for _, d := range docs {
		for _, op := range d.Ops {
			if rows := strings.HasPrefix(op.ID, "import"); op.Body != nil && op.Body.shape.hasRows() != rows {
				t.Errorf("%s has rows: %t, want %t", op.ID, !rows, rows)
			}
		}
	}
}

// TestFirstMistakesAreTold: what a partner's first curl command gets wrong is refused with what to send instead.
func TestFirstMistakesAreTold(t *testing.T) {
	t.Parallel()
	_, err := decode([]byte(`{}`), "application/x-www-form-urlencoded", false, false)
	if want := "invalid_body: the content type must be application/json, not application/x-www-form-urlencoded (with curl: -H 'Content-Type: application/json')"; err == nil || err.Error() != want {
		t.Errorf("curl's content type: got %v, want %s", err, want)
	}
	key := &Param{In: "header", Name: "Idempotency-Key", required: true, code: fail.IdempotencyKeyMissing}
	_, err = key.read(nil)
	if want := "idempotency_key_required: Idempotency-Key is required: a new value for each command, and the same value to repeat one"; err == nil || err.Error() != want {
		t.Errorf("no idempotency key: got %v, want %s", err, want)
	}
}
