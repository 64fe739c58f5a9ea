package expression

import "testing"

func TestMissing(t *testing.T) {
	t.Parallel()
	env := map[string]any{"data": map[string]any{"outcome": "reported", "none": nil}, "list": []any{map[string]any{"action": "pulse"}}, "one": "x",
		"empty": []any{}}
	for path, want := range map[string]string{
		"data.otcome":     `data has no "otcome", did you mean "outcome"?`,
		"data.result":     `data has no "result"; it has none outcome`,
		"list[0].actoin":  `list[0] has no "actoin", did you mean "action"?`,
		"list[1].action":  "list has 1 item, so there is no list[1]",
		"empty[0].action": "empty is empty, so there is no empty[0]",
		"list[-2]":        "",
		"data.outcome":    "",
		"data.none":       "",
		"data.none.of":    "",
		"one.of":          "",
		"other":           "",
	} {
		if got := Missing(path, env); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
