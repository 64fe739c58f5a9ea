package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router/routertest"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// composedCells is docker-compose.cells.yml, running.
type composedCells struct {
	*dockerEngine
	cells [cellCount]composedCell
}

type composedCell struct {
	door string
	api  client.Client // through the router
}

// TestCellsCompose ('make compose-test') starts what docker-compose.cells.yml has: doors of all three cells open through
// the router, a cell that is killed takes only its own places with it, and the load in three shards is merged.
func TestCellsCompose(t *testing.T) {
	if os.Getenv("DOORLAB_COMPOSE") == "" {
		t.Skip("needs docker.io, docker-compose, haproxy and the static binary: make compose-test")
	}
	c := &composedCells{dockerEngine: newEngine(t, "../../docker-compose.cells.yml")}
	c.image()
	c.haproxy()
	c.profile("boards", "up", "-d", "--no-build")
	front := client.Client{Base: c.address("router", "8080")}
	w := world.Default(1, composeBoards)
	for i := range c.cells {
		n := i + 1
		c.healthy(fmt.Sprint("boards-", n))
		place := w.Shard(shard.Shard{Index: n, Of: cellCount}).Places[1]
		var made struct{ APIKey string }
		body := map[string]any{"placeId": place.ID, "name": "compose", "scopes": []string{"space:partner", "device:door"}}
		must.OK(t, c.lab(fmt.Sprint("cell-", n)).Do(t.Context(), http.MethodPost, "/lab/v1/keys", body, &made))
		c.cells[i] = composedCell{place.Boards[0].Doors[0].ID, must.Get(front.SignIn(t.Context(), made.APIKey))(t)}
	}
	c.opens("at first", "200", "200", "200")
	id := c.compose("ps", "-q", "cell-2")
	c.run("docker", "kill", id)
	c.until("the router has noticed", func() bool { return strings.HasPrefix(c.open(1, "dead"), "503") }) // a request in progress is cut off
	c.opens("while a cell is dead", "200", "503", "200")
	c.run("docker", "start", id)
	tries := 0
	c.healthy("cell-2")
	c.until("the boards of cell 2 are back", func() bool { tries++; return strings.HasPrefix(c.open(1, fmt.Sprint("back ", tries)), "200") })
	c.opens("when it is back", "200", "200", "200")
	c.compose("stop", "boards-1", "boards-2", "boards-3") // the generators bring the boards along
	c.env = append(c.env, "DOORLAB_START_AT="+clock.WallNow().UTC().Add(time.Minute).Format("15:04:05Z"))
	c.profile("load", "up", "--no-build", "load-1", "load-2", "load-3")
	merged := c.profile("merge", "run", "--rm", "merge")
	if !strings.Contains(merged, "PASS") || !strings.Contains(merged, "CMD-1") {
		t.Errorf("the merge says\n%s\nwant PASS, with a ledger", merged)
	}
	t.Log(merged)
}

// haproxy makes sure of the image that the compose file names: where no registry can be reached it is made of this
// machine's HAProxy.
func (c *composedCells) haproxy() {
	c.t.Helper()
	b := must.Get(os.ReadFile(c.file))(c.t)
	_, name, _ := strings.Cut(string(b), "image: haproxy")
	name, _, _ = strings.Cut("haproxy"+name, "\n")
	if c.command("docker", "image", "inspect", name).Run() == nil {
		return
	}
	tool, dir := routertest.HAProxy(c.t), c.t.TempDir()
	libraries := must.Get(exec.Command("ldd", tool).Output())(c.t)
	for _, file := range append(strings.Fields(string(libraries)), tool) {
		if filepath.IsAbs(file) {
			to := filepath.Join(dir, "root", file)
			must.OK(c.t, os.MkdirAll(filepath.Dir(to), 0o755))
			c.run("cp", "-L", file, to)
		}
	}
	text := "FROM scratch\nCOPY root/ /\nUSER 99:99\nENTRYPOINT [\"" + tool + "\", \"-W\", \"-db\", \"-f\", \"/usr/local/etc/haproxy/haproxy.cfg\"]\n"
	must.OK(c.t, os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o600))
	c.run("docker", "build", "-t", name, dir)
	c.t.Cleanup(func() { c.run("docker", "rmi", "--force", name) })
}

// profile runs compose with one of the file's profiles.
func (c *composedCells) profile(name string, args ...string) string {
	c.t.Helper()
	return c.compose(append([]string{"--profile", name}, args...)...)
}

// lab is the control API of a service, at its container's own address: the file publishes only the router.
func (c *composedCells) lab(service string) client.Client {
	c.t.Helper()
	addr := c.run("docker", "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", c.compose("ps", "-q", service))
	return client.Client{Base: "http://" + addr + ":8081", Token: composeToken}
}

// open opens a door of a cell's place through the router.
func (c *composedCells) open(cell int, key string) string {
	a, err := c.cells[cell].api.Open(c.t.Context(), c.cells[cell].door, strings.ReplaceAll(key, " ", "-"))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", a.Status, a.Body)
}

// opens opens a door of each cell and looks at the statuses.
func (c *composedCells) opens(round string, want ...string) {
	c.t.Helper()
	for i, status := range want {
		if answer := c.open(i, round); !strings.HasPrefix(answer, status) {
			c.t.Errorf("%s, a door of cell %d: %s, want %s", round, i+1, answer, status)
		}
	}
}
