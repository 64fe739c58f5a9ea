package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/must"
)

// TestControlExamples sends every example of the control API's document to the listener that it is for, with the ids of
// that lab, and each is answered 200.
func TestControlExamples(t *testing.T) {
	t.Parallel()
	const any0 = "127.0.0.1:0"
	dir := t.TempDir()
	written(t, dir, map[string]string{"stores.yaml": threePlaces, "secret": "a secret of at least 32 characters"})
	common := []string{"--json", "--world", filepath.Join(dir, "stores.yaml"), "--secret-file", filepath.Join(dir, "secret"), "--clock", "virtual", "--control", any0, "--control-token", "t"}
	server := start(t, append([]string{"up", "--crash-points", "--http", any0, "--mqtt", any0}, common...)...).server()
	apart := start(t, append([]string{"serve", "--http", any0, "--mqtt", any0}, common...)...).server()
	fleet := start(t, append([]string{"boards", "--broker", apart.MQTT}, common...)...).fleet()
	labs := map[openapi.On]client.Client{openapi.Server: {Base: server.Control, Token: "t"}, openapi.Fleet: {Base: fleet.Control, Token: "t"}}
	var boards []struct {
		BoardID, PlaceID string
		Doors            []struct{ DoorID string }
	}
	clienttest.Do(t, labs[openapi.Server], http.MethodGet, "/lab/v1/boards", nil, &boards)
	one := boards[0]
	i := slices.IndexFunc(server.Places, func(p client.Place) bool { return p.PlaceID == one.PlaceID })
	fill := strings.NewReplacer("dor_front", one.Doors[0].DoorID, "plc_gangnam", one.PlaceID, "brd_0000000401wfz5hv6smebemfzx", one.BoardID,
		"http://127.0.0.1:8081", apart.Control, `"secret"`, `"t"`, "05012345678", server.Places[i].EntryPhone)
	sent := 0
	for _, on := range []openapi.On{openapi.Server, openapi.Fleet} {
		doc := must.Get(openapi.Load(on))(t)
		paths := slices.SortedFunc(maps.Keys(doc.Paths.Map()), func(a, b string) int { // what kills comes last
			return cmp.Or(strings.Count(a, "/crash")-strings.Count(b, "/crash"), strings.Compare(a, b))
		})
		for _, path := range paths {
			for method, op := range doc.Paths.Value(path).Operations() {
				if op.RequestBody == nil || on == openapi.Fleet && op.Extensions["x-on"] == nil {
					continue
				}
				example := op.RequestBody.Value.Content["application/json"].Example
				if example == nil && !op.RequestBody.Value.Required {
					continue
				}
				to := strings.NewReplacer("{placeId}", one.PlaceID, "{doorId}", one.Doors[0].DoorID, "{id}", one.BoardID).Replace(path)
				body := fill.Replace(string(must.Get(json.Marshal(example))(t)))
				a, err := labs[on].Call(t.Context(), method, "/lab/v1"+to, "", []byte(body))
				if err != nil {
					t.Errorf("%s %s with %s: %v, want 200", method, path, body, err)
				} else if a.Status != http.StatusOK && a.Status != http.StatusCreated {
					t.Errorf("%s %s with %s is answered %d %s, want 200", method, path, body, a.Status, a.Body)
				}
				sent++
			}
		}
	}
	if sent < 14 {
		t.Errorf("%d examples found, want at least 14", sent)
	}
}
