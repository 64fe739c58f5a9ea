package k8s

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

type pod struct {
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
	}
	Spec struct {
		Containers []struct {
			Image string
			Args  []string
			Env   []struct {
				Name      string
				ValueFrom struct{ FieldRef struct{ FieldPath string } }
			}
		}
		Volumes []struct {
			PersistentVolumeClaim struct{ ClaimName string }
		}
	}
}

// TestControllersMakeThePods: with the indexes, names and claims that the shards rely on.
func TestControllersMakeThePods(t *testing.T) {
	p := startPlane(t)
	p.applyAll()
	p.control()
	var pods struct{ Items []pod }
	want := []string{"cell 0", "cell 1", "cell 2", "check 0", "check 1", "check 2", "load 0", "load 1", "load 2", "merge ", "merge-check ", "router "}
	var got []string
	p.until(fmt.Sprintf("there are the pods %q", want), func() bool {
		p.list("/api/v1/namespaces/doorlab/pods", &pods)
		got = nil
		for _, pod := range pods.Items {
			got = append(got, pod.Metadata.Labels["app"]+" "+index(pod))
		}
		slices.Sort(got)
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("the pods with their indexes are %q, want %q", got, want)
	}
	for _, pod := range pods.Items {
		pod.check(t)
	}
	var claims struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ AccessModes []string }
		}
	}
	p.list("/api/v1/namespaces/doorlab/persistentvolumeclaims", &claims)
	modes := map[string]string{}
	for _, c := range claims.Items {
		modes[c.Metadata.Name] = strings.Join(c.Spec.AccessModes, " ")
	}
	for name, mode := range map[string]string{"data-cell-0": "ReadWriteOncePod", "data-cell-1": "ReadWriteOncePod", "data-cell-2": "ReadWriteOncePod", "runs": "ReadWriteMany"} {
		if modes[name] != mode {
			t.Errorf("the claim %s is %q, want %s", name, modes[name], mode)
		}
	}
}

// index is what the pod's environment gets as DOORLAB_SHARD_INDEX, "" for a pod without one.
func index(p pod) string {
	for _, e := range p.Spec.Containers[0].Env {
		if e.Name != "DOORLAB_SHARD_INDEX" {
			continue
		}
		from, key, _ := strings.Cut(strings.TrimSuffix(e.ValueFrom.FieldRef.FieldPath, "']"), "['")
		if from == "metadata.labels" {
			return p.Metadata.Labels[key]
		}
		return p.Metadata.Annotations[key]
	}
	return ""
}

// check looks at what the controllers made of the template.
func (p pod) check(t *testing.T) {
	t.Helper()
	c := p.Spec.Containers[0]
	command := map[string]string{"cell": "serve", "load": "load", "check": "check", "merge": "merge", "merge-check": "merge"}[p.Metadata.Labels["app"]]
	if command != "" && (c.Image != "doorlab:dev" || len(c.Args) == 0 || c.Args[0] != command) {
		t.Errorf("%s runs %s %q, want doorlab:dev %s", p.Metadata.Name, c.Image, c.Args, command)
	}
	if p.Metadata.Labels["app"] != "cell" {
		return
	}
	if want := "cell-" + index(p); p.Metadata.Name != want {
		t.Errorf("the pod with index %s is %s, want %s: the router looks for it by this name", index(p), p.Metadata.Name, want)
	}
	claim := ""
	for _, v := range p.Spec.Volumes {
		claim += v.PersistentVolumeClaim.ClaimName
	}
	if want := "data-" + p.Metadata.Name; claim != want {
		t.Errorf("%s has the claim %q, want %s", p.Metadata.Name, claim, want)
	}
}

// TestAShardThatFails: its pod isn't made again, the pods of the other shards stay, and the Job ends once they have.
func TestAShardThatFails(t *testing.T) {
	p := startPlane(t)
	p.applyAll()
	p.control()
	for _, job := range []string{"load", "check"} {
		selector := "/api/v1/namespaces/doorlab/pods?labelSelector=app%3D" + job
		var pods struct{ Items []pod }
		p.until("the shards of "+job+" have pods", func() bool {
			p.list(selector, &pods)
			return len(pods.Items) == 3
		})
		for _, pod := range pods.Items {
			if index(pod) == "1" {
				p.ends(pod, "Failed")
			}
		}
		var state struct {
			Status struct {
				FailedIndexes string
				Active        int
				Conditions    []struct{ Type string }
			}
		}
		get := func() { p.list("/apis/batch/v1/namespaces/doorlab/jobs/"+job, &state) }
		p.until("shard 1 of "+job+" has failed", func() bool { get(); return state.Status.FailedIndexes == "1" })
		if state.Status.Active != 2 || len(state.Status.Conditions) > 0 {
			t.Errorf("%s has %d active shards and the conditions %v once one has failed, want 2 active ones", job, state.Status.Active, state.Status.Conditions)
		}
		for _, pod := range pods.Items {
			if index(pod) != "1" {
				p.ends(pod, "Succeeded")
			}
		}
		p.until(job+" has ended", func() bool {
			get()
			return slices.ContainsFunc(state.Status.Conditions, func(c struct{ Type string }) bool { return c.Type == "Failed" })
		})
	}
}

// ends says of a pod what the node's kubelet would.
func (p *plane) ends(pod pod, phase string) {
	p.t.Helper()
	body := `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "` + pod.Metadata.Name + `"}, "status": {"phase": "` + phase + `"}}`
	path := "/api/v1/namespaces/doorlab/pods/" + pod.Metadata.Name + "/status?fieldManager=kubelet&force=true"
	if status, b := p.ask("PATCH", path, []byte(body)); status != 200 {
		p.t.Errorf("%s is %s: got %d %s, want 200", pod.Metadata.Name, phase, status, b)
	}
}
