package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
)

// onPages starts a lab for the commands of a page, and fills in what the page leaves open: a live place, a board there,
// its door, and the link of somebody with a permit.
func onPages(t *testing.T) (lab client.Client, fill *strings.Replacer) {
	t.Helper()
	ready := start(t, "up", "--json", "--clock", "virtual", "--boards", "10", "--control-token", "t",
		"--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0").server()
	place := ready.Places[slices.IndexFunc(ready.Places, func(p client.Place) bool { return p.Kind == "live" })]
	partner := must.Get(client.Client{Base: ready.HTTP}.SignIn(t.Context(), *place.APIKey))(t)
	var permit struct{ URL string }
	now := clock.WallNow().UTC()
	body := map[string]any{"externalRef": "r", "phone": "01011112222", "name": "Kim", "startsAt": now.Add(-time.Hour), "endsAt": now.Add(time.Hour)}
	clienttest.Do(t, partner, http.MethodPost, "/space/v1/partner/entry-permits", body, &permit)
	lab = client.Client{Base: ready.Control, Token: "t"}
	var boards []struct {
		BoardID string
		Doors   []struct{ DoorID string }
	}
	clienttest.Do(t, lab, http.MethodGet, "/lab/v1/boards?placeId="+place.PlaceID, nil, &boards)
	board := boards[0]
	return lab, strings.NewReplacer("http://127.0.0.1:8080/entry?t=...", permit.URL, "brd_...", board.BoardID, "brd_front", board.BoardID,
		"plc_...", place.PlaceID, "dor_...", board.Doors[0].DoorID, "05012345678", place.EntryPhone)
}

// TestCommandLinePage plays the commands of cli.md that ask a running lab.
func TestCommandLinePage(t *testing.T) {
	t.Parallel()
	lab, fill := onPages(t)
	code := fill.Replace(shellOf(t, "cli.md"))
	const tail = "doorlab board tail "
	if strings.Count(code, tail) != 1 {
		t.Fatalf("cli.md follows a journal in %d places, want 1:\n%s", strings.Count(code, tail), code)
	}
	before, after, _ := strings.Cut(code, tail)
	_, after, _ = strings.Cut(after, "\n") // it ends with Ctrl-C
	out := play(t, t.TempDir(), "export DOORLAB_CONTROL="+lab.Base+" DOORLAB_CONTROL_TOKEN=t\n"+before+after)
	inOrder(t, out, "silent-after", "flt_1", "flt_2", "refuse", "BOARD", "virtual clock", "Refit", "removed", "Door", "link", "on site")
}

// TestFaultsPage adds each example of faults.md to a running lab, and removes it.
func TestFaultsPage(t *testing.T) {
	t.Parallel()
	lab, fill := onPages(t)
	raw := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "faults.md")))(t)
	examples := strings.Split(string(raw), "```json\n")[1:]
	if len(examples) < 21 {
		t.Errorf("faults.md has %d examples, want one for each of 21 faults", len(examples))
	}
	for _, part := range examples {
		example, _, _ := strings.Cut(part, "```")
		a, err := lab.Call(t.Context(), http.MethodPost, "/lab/v1/faults", "", []byte(fill.Replace(example)))
		if err != nil || a.Status != http.StatusOK && a.Status != http.StatusCreated {
			t.Errorf("%s is answered %v, %v; want it to be added", example, a, err)
		}
		clienttest.Do(t, lab, http.MethodPost, "/lab/v1/faults/reset", nil, nil)
	}
}

// TestScenariosPage plays the whole file that scenarios.md begins with.
func TestScenariosPage(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "scenarios.md")))(t)
	_, rest, _ := strings.Cut(string(raw), "```yaml\n")
	file, _, found := strings.Cut(rest, "```")
	if !found || !strings.HasPrefix(file, "name: ") {
		t.Fatalf("the page's first example is\n%s\nwant a whole file", file)
	}
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "my-outage.yaml"), []byte(file), 0o600))
	out := play(t, dir, "doorlab check --plain --boards 50 my-outage.yaml\ndoorlab schema > doorlab.schema.json\nls\n")
	inOrder(t, out, "PASS     my-outage", "OFF-1", "1 assertion", "OFF-2", "2 assertions", "doorlab.schema.json")
}

// TestRouterPages runs the router's commands of cli.md and scale.md.
func TestRouterPages(t *testing.T) {
	t.Parallel()
	world := "places:\n"
	for _, name := range []string{"Gangnam", "Hongdae", "Jamsil"} {
		world += "  - {name: " + name + ", kind: live, fleet: {boards: 1}, keys: [{name: partner}]}\n"
	}
	for _, page := range []string{"cli.md", "scale.md"} {
		raw := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", page)))(t)
		_, rest, found := strings.Cut(string(raw), "\ndoorlab router ")
		code, _, _ := strings.Cut(rest, "\nhaproxy ")
		if !found {
			t.Fatalf("%s has no doorlab router", page)
		}
		dir := t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(dir, "stores.yaml"), []byte(world), 0o600))
		inOrder(t, play(t, dir, "doorlab router "+code+"\nls router\n"), "boards.map", "haproxy.cfg", "places.map")
	}
}

// TestConfigPage starts a lab with the settings of cli.md, but for the port and the size.
func TestConfigPage(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "cli.md")))(t)
	_, rest, _ := strings.Cut(string(raw), "```yaml\n# doorlab up --config lab.yaml\n")
	settings, _, found := strings.Cut(rest, "```")
	if !found || !strings.Contains(settings, "boards: 500\n") || !strings.Contains(settings, "127.0.0.1:9000\n") {
		t.Fatalf("cli.md's settings are\n%s\nwant 500 boards and port 9000", settings)
	}
	file := filepath.Join(t.TempDir(), "lab.yaml")
	small := strings.NewReplacer("boards: 500\n", "boards: 3\n", "127.0.0.1:9000\n", "127.0.0.1:0\n").Replace(settings)
	must.OK(t, os.WriteFile(file, []byte(small), 0o600))
	if ready := start(t, "up", "--json", "--config", file, "--mqtt", "127.0.0.1:0").server(); ready.Control != "" || len(ready.Places) == 0 {
		t.Errorf("control is at %q, %d places; want no control API and places", ready.Control, len(ready.Places))
	}
}

// TestBoardPage plays the commands of board-protocol.md: a board of mosquitto's tools takes a simulated one's place, opens
// its door, and gives the place back.
func TestBoardPage(t *testing.T) {
	t.Parallel()
	must.Have(t, "mosquitto_sub", "mosquitto-clients")
	ready := start(t, "up", "--json", "--boards", "10", "--control-token", "t", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0").server()
	host, port, err := net.SplitHostPort(strings.TrimPrefix(ready.MQTT, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	code := strings.NewReplacer("127.0.0.1 1883", host+" "+port, "http://127.0.0.1:8080", ready.HTTP).Replace(shellOf(t, "board-protocol.md"))
	out := play(t, filepath.Join("..", ".."), "export DOORLAB_CONTROL="+ready.Control+" DOORLAB_CONTROL_TOKEN=t\n"+code)
	inOrder(t, out, "password", `"outcome":"reported"`, "attached")
}
