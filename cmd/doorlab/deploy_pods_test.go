package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router/routertest"
)

// pods runs the containers of deploy/k8s as processes of this machine: with their commands and settings, and
// addresses and volumes of this machine in place of the cluster's.
type pods struct {
	t        *testing.T
	loads    map[string]workload
	settings map[string]map[string]string
	replace  []string // pairs
}

// process is a container of a workload, in the pod with this index.
func (p *pods) process(c container, index int, more ...string) (args, env []string) {
	d := c.asPod(p.t, p.settings, index)
	r := strings.NewReplacer(append(more, p.replace...)...)
	for _, a := range d.args {
		args = append(args, r.Replace(a))
	}
	for k, v := range d.env {
		env = append(env, k+"="+r.Replace(v))
	}
	return args, env
}

// TestKubernetesPods: what the pods of deploy/k8s run works together, and the merged verdict of the load is green.
func TestKubernetesPods(t *testing.T) {
	if os.Getenv("DOORLAB_K8S") == "" {
		t.Skip("part of make k8s-test")
	}
	tool, dir := routertest.HAProxy(t), t.TempDir()
	web, mqtt := freeAddr(t), freeAddr(t)
	p := &pods{t: t, replace: []string{"/secret", dir, "/runs", dir, "http://router:8080", "http://" + web, "router:1883", mqtt, "10.0.0.0/8", "127.0.0.1",
		"http://doors.example.com", "http://" + web, "door-commands", filepath.Join(dir, "plan.yaml")}}
	p.loads, p.settings = k8sFiles(t)
	p.settings["start"] = map[string]string{}
	for name, text := range map[string]string{"shared": strings.Repeat("shared secret ", 4), "control-token": "token",
		"plan.yaml": "rate: 60/s\nduration: 5s\nrepeatedKeys: 10%\nthresholds: {errors: 0}\n"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cell := p.loads["cell"].Spec
	var cells [2][]string // HTTP and MQTT addresses
	for i := range cell.Replicas {
		args, env := p.process(cell.Template.Spec.Containers[0], i, "0.0.0.0:8080", "127.0.0.1:0", "0.0.0.0:1883", "127.0.0.1:0", "127.0.0.1:8081", "127.0.0.1:0",
			"/data", filepath.Join(t.TempDir(), "data"))
		ready := startWith(t, env, append(args, "--json")...).server()
		cells[0] = append(cells[0], strings.TrimPrefix(ready.HTTP, "http://"))
		cells[1] = append(cells[1], strings.TrimPrefix(ready.MQTT, "tcp://"))
	}
	p.run(p.loads["router"].Spec.Template.Spec.InitContainers[0], 0, "0.0.0.0:8080", web, "0.0.0.0:1883", mqtt, "/router", dir,
		"cell-{k}.cells.doorlab.svc.cluster.local:8080", strings.Join(cells[0], ","), "cell-{k}.cells.doorlab.svc.cluster.local:1883", strings.Join(cells[1], ","))
	haproxy := exec.Command(tool, "-db", "-f", filepath.Join(dir, "haproxy.cfg"))
	must.OK(t, haproxy.Start())
	t.Cleanup(func() { _, _ = haproxy.Process.Kill(), haproxy.Wait() })
	for up := false; !up; pause(t.Context()) {
		up = (client.Client{Base: "http://" + web}).Do(t.Context(), http.MethodGet, "/livez", nil, nil) == nil
	}
	p.settings["start"]["DOORLAB_START_AT"] = clock.WallNow().UTC().Add(20 * time.Second).Format("15:04:05Z")
	load := p.loads["load"].Spec
	var wg sync.WaitGroup
	for i := range load.Completions {
		wg.Go(func() { p.run(load.Template.Spec.Containers[0], i) })
	}
	wg.Wait()
	said := p.run(p.loads["merge"].Spec.Template.Spec.Containers[0], 0)
	if !strings.Contains(said, "PASS") || !strings.Contains(said, "CMD-1") {
		t.Errorf("the merge says\n%s\nwant PASS, with a ledger", said)
	}
	t.Log(said)
}

// run is a process that ends, with exit code 0, and what it printed.
func (p *pods) run(c container, index int, more ...string) string {
	args, env := p.process(c, index, more...)
	out, err := command(env, args...).CombinedOutput()
	if err != nil {
		p.t.Errorf("doorlab %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
