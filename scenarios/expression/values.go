package expression

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/doorlab/doorlab/internal/amount"
)

// Show writes a value as templates do: nil as nothing, objects and lists as JSON.
func Show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any, []any:
		if raw, err := json.Marshal(v); err == nil {
			return string(raw)
		}
	}
	return fmt.Sprint(v)
}

// Number is a value as a number; text may be a share such as 10%, which is 0.1. Anything else, and what isn't finite,
// is an error.
func Number(v any) (float64, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		if f, err := amount.ParseShare(v); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%q is not a number", Show(v))
}

// asObject makes what fromPairs makes an object like any other, which can be sent; other values stay.
func asObject(v any) any {
	m, ok := v.(map[any]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[Show(k)] = asObject(v)
	}
	return out
}
