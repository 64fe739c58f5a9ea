package openapi

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/must"
)

var land = flag.Bool("land", false, "keep the documents as the landed ones")

func landed(name string) string { return filepath.Join("landed", name+".json") }

func readLanded(t *testing.T, b []byte) *openapi3.T {
	t.Helper()
	doc := must.Get(openapi3.NewLoader().LoadFromData(b))(t)
	return doc
}

// TestBreaking: the documents still work for clients written against the landed ones. After landing a version: go
// test ./server/api/openapi -run TestBreaking -land
func TestBreaking(t *testing.T) {
	t.Parallel()
	docs := must.Get(Load())(t)
	for _, d := range docs {
		if *land {
			var v any
			must.OK(t, json.Unmarshal(d.JSON, &v))
			b, _ := json.MarshalIndent(v, "", " ")
			must.OK(t, os.WriteFile(landed(d.Name), append(b, '\n'), 0o644))
		}
		b := must.Get(os.ReadFile(landed(d.Name)))(t)
		for _, line := range breaking(readLanded(t, b), readLanded(t, d.JSON)) {
			t.Errorf("%s: %s", d.Name, line)
		}
	}
}

// TestBreakingSees plants a break of each kind. The check must find it, and must not complain about changes that a
// client can live with.
func TestBreakingSees(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile(landed("device")))(t)
	const commands = "/device/v1/devices/{id}/commands"
	body := func(d *openapi3.T) *openapi3.Schema {
		return d.Paths.Value(commands).Post.RequestBody.Value.Content["application/json"].Schema.Value
	}
	first := func(d *openapi3.T) *openapi3.Schema {
		return d.Paths.Value("/device/v1/devices").Get.Responses.Value("200").Value.Content["application/json"].Schema.Value.Properties["data"].Value.Items.Value
	}
	one, old := uint64(1), readLanded(t, b)
	for name, plant := range map[string]struct {
		change func(*openapi3.T)
		want   string // "" = not breaking
	}{
		"nothing":             {func(*openapi3.T) {}, ""},
		"path removed":        {func(d *openapi3.T) { d.Paths.Delete(commands) }, commands + " is gone"},
		"method removed":      {func(d *openapi3.T) { d.Paths.Value(commands).Post = nil }, "POST " + commands + " is gone"},
		"response field gone": {func(d *openapi3.T) { delete(first(d).Properties, "name") }, "field name is gone"},
		"response optional":   {func(d *openapi3.T) { first(d).Required = nil }, "may now be absent"},
		"response type":       {func(d *openapi3.T) { first(d).Properties["name"].Value.Type = &openapi3.Types{"integer"} }, "type [string] became [integer]"},
		"response nullable":   {func(d *openapi3.T) { first(d).Properties["name"].Value.Nullable = true }, "nullable became true"},
		"request field gone":  {func(d *openapi3.T) { delete(body(d).Properties, "args") }, "field args is gone"},
		"request required":    {func(d *openapi3.T) { body(d).Required = append(body(d).Required, "args") }, "field args is now required"},
		"enum value gone":     {func(d *openapi3.T) { e := body(d).Properties["command"].Value; e.Enum = e.Enum[1:] }, "is gone"},
		"bound":               {func(d *openapi3.T) { body(d).Properties["args"].Value.Properties["reason"].Value.MaxLength = &one }, "bounds are narrower"},
		"parameter required": {func(d *openapi3.T) {
			p := openapi3.NewQueryParameter("x").WithRequired(true).WithSchema(openapi3.NewStringSchema())
			o := d.Paths.Value(commands).Post
			o.AddParameter(p)
		}, "x is now required"},
		"scope":               {func(d *openapi3.T) { d.Paths.Value(commands).Post.Extensions["x-required-scope"] = "space:partner" }, "scope device:door became space:partner"},
		"a new field":         {func(d *openapi3.T) { first(d).WithProperty("more", openapi3.NewStringSchema()) }, ""},
		"a new request field": {func(d *openapi3.T) { body(d).WithProperty("more", openapi3.NewStringSchema()) }, ""},
		"a new enum value":    {func(d *openapi3.T) { e := body(d).Properties["command"].Value; e.Enum = append(e.Enum, "knock") }, ""},
		"a new path":          {func(d *openapi3.T) { d.Paths.Set("/device/v1/x", &openapi3.PathItem{}) }, ""},
		"a wider bound":       {func(d *openapi3.T) { body(d).Properties["args"].Value.Properties["reason"].Value.MaxLength = nil }, ""},
	} {
		now := readLanded(t, b)
		plant.change(now)
		got := strings.Join(breaking(old, now), "\n")
		if plant.want == "" && got != "" || !strings.Contains(got, plant.want) {
			t.Errorf("%s: %q, want %q", name, got, plant.want)
		}
	}
}
