package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
)

const k8sDir = "../../deploy/k8s"

// podSpec is what the tests read of a pod.
type podSpec struct {
	SecurityContext              struct{ RunAsNonRoot bool }
	AutomountServiceAccountToken *bool
	InitContainers, Containers   []container
}

type container struct {
	Name, Image   string
	Command, Args []string
	EnvFrom       []struct {
		ConfigMapRef struct {
			Name     string
			Optional bool
		}
	}
	Env []struct {
		Name      string
		Value     string
		ValueFrom struct{ FieldRef struct{ FieldPath string } }
	}
	SecurityContext struct {
		AllowPrivilegeEscalation *bool
		ReadOnlyRootFilesystem   bool
		Capabilities             struct{ Drop []string }
	}
}

// workload is one document, where it has pods: a StatefulSet, a Deployment or a Job.
type workload struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Replicas, Completions, Parallelism int
		CompletionMode                     string
		BackoffLimitPerIndex               *int
		Template                           struct{ Spec podSpec }
	}
	ConfigMapGenerator []struct { // of a kustomization
		Name     string
		Literals []string
	}
}

// k8sFiles reads the workloads by name, and the settings of the generated ConfigMaps.
func k8sFiles(t *testing.T) (map[string]workload, map[string]map[string]string) {
	t.Helper()
	loads, settings := map[string]workload{}, map[string]map[string]string{}
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		files := must.Get(filepath.Glob(filepath.Join(k8sDir, pattern)))(t)
		for _, file := range files {
			b := must.Get(os.ReadFile(file))(t)
			for text := range strings.SplitSeq(string(b), "\n---\n") {
				var doc workload
				b, err := yaml.YAMLToJSON([]byte(text))
				if err == nil {
					err = json.Unmarshal(b, &doc) // which doesn't mind runAsNonRoot
				}
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				for _, m := range doc.ConfigMapGenerator {
					settings[m.Name] = map[string]string{}
					for _, l := range m.Literals {
						k, v, _ := strings.Cut(l, "=")
						settings[m.Name][k] = v
					}
				}
				if len(doc.Spec.Template.Spec.Containers) > 0 {
					loads[doc.Metadata.Name] = doc
				}
			}
		}
	}
	return loads, settings
}

var variables = regexp.MustCompile(`\$\(([A-Z_]+)\)`)

// asPod is a container's process in the pod with this index.
func (c container) asPod(t *testing.T, settings map[string]map[string]string, index int) deployed {
	t.Helper()
	d := deployed{env: map[string]string{}}
	for _, from := range c.EnvFrom {
		if settings[from.ConfigMapRef.Name] == nil && !from.ConfigMapRef.Optional {
			t.Errorf("%s: no ConfigMap %q", c.Name, from.ConfigMapRef.Name)
		}
		maps.Copy(d.env, settings[from.ConfigMapRef.Name])
	}
	for _, e := range c.Env {
		switch e.ValueFrom.FieldRef.FieldPath {
		case "":
			d.env[e.Name] = e.Value
		case "metadata.labels['apps.kubernetes.io/pod-index']", "metadata.annotations['batch.kubernetes.io/job-completion-index']":
			d.env[e.Name] = strconv.Itoa(index)
		default:
			t.Errorf("%s: %s comes from %s", c.Name, e.Name, e.ValueFrom.FieldRef.FieldPath)
		}
	}
	for _, a := range c.Args {
		d.args = append(d.args, variables.ReplaceAllStringFunc(a, func(v string) string { return d.env[v[2:len(v)-1]] }))
	}
	return d
}

// TestKubernetesFiles holds deploy/k8s against the program: every command line, one world, every shard once, and
// pods that may do little. What Kubernetes itself says of the files is asked by make k8s-test.
func TestKubernetesFiles(t *testing.T) {
	t.Parallel()
	loads, settings := k8sFiles(t)
	n := must.Get(strconv.Atoi(settings["doorlab"]["DOORLAB_SHARDS"]))(t)
	router := loads["router"].Spec.Template.Spec.InitContainers[0].asPod(t, settings, 0)
	for name, want := range map[string]string{"cell": "StatefulSet", "router": "Deployment", "load": "Job", "check": "Job", "merge": "Job", "merge-check": "Job"} {
		w := loads[name]
		if w.Kind != want {
			t.Errorf("%s is a %q, want a %s", name, w.Kind, want)
		}
		pod := w.Spec.Template.Spec
		if !pod.SecurityContext.RunAsNonRoot || pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s: want pods that don't run as root and get no token of the cluster", name)
		}
		for _, c := range append(pod.InitContainers, pod.Containers...) {
			if s := c.SecurityContext; s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("%s/%s: want no privileges, no capabilities and a file system that is only read", name, c.Name)
			}
			if c.Image == "doorlab" {
				c.asPod(t, settings, 0).accepted(t, name+"/"+c.Name)
			}
		}
		if name == "router" || strings.HasPrefix(name, "merge") {
			continue
		}
		var all []deployed
		for i := range max(w.Spec.Replicas, w.Spec.Completions) {
			all = append(all, pod.Containers[0].asPod(t, settings, i))
		}
		wholeWorld(t, name, all, router.world(), n)
		if w.Kind == "Job" && (w.Spec.CompletionMode != "Indexed" || w.Spec.Parallelism != n) {
			t.Errorf("%s: %s with %d pods at a time, want Indexed with %d", name, w.Spec.CompletionMode, w.Spec.Parallelism, n)
		}
	}
	for job, merge := range map[string]string{"load": "merge", "check": "merge-check"} {
		if limit := loads[job].Spec.BackoffLimitPerIndex; limit == nil || *limit != 0 {
			t.Errorf("%s: backoffLimitPerIndex is %v, want 0: a shard that fails isn't repeated, and the others go on", job, limit)
		}
		merged := loads[merge].Spec.Template.Spec.Containers[0].Args
		for i := range n {
			pod := loads[job].Spec.Template.Spec.Containers[0].asPod(t, settings, i)
			if out := pod.args[len(pod.args)-1]; !strings.Contains(strings.Join(merged, " ")+" ", " "+out+" ") {
				t.Errorf("shard %s of %s writes to %s, and %s takes %v", shard.Shard{Index: i + 1, Of: n}, job, out, merge, merged)
			}
		}
	}
}
