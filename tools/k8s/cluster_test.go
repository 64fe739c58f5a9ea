package k8s

import (
	"encoding/json"
	"strings"
	"testing"
)

// namespace lets no pod in that could do more than it needs: the API server refuses the others.
const namespace = `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "doorlab", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`

// TestClusterTakesThem: a real API server takes every file, refuses a misspelt field in each, and lets the pods
// into a namespace for those that may do little.
func TestClusterTakesThem(t *testing.T) {
	p := startPlane(t)
	p.applyAll()
	for _, dir := range parts {
		for _, r := range rendered(t, dir) {
			b, err := r.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if wrong := strings.Replace(string(b), `"spec":{`, `"spec":{"replica":3,`, 1); wrong != string(b) {
				wrong = strings.Replace(wrong, `"name":"`+r.GetName()+`"`, `"name":"wrong"`, 1)
				if status, b := p.apply(r.GetKind(), r.GetApiVersion(), "wrong", []byte(wrong)); status < 400 || !strings.Contains(string(b), "field not declared") {
					t.Errorf("a misspelt field in a %s: %d %s, want it refused", r.GetKind(), status, b)
				}
			}
			p.admits(r.GetName(), b)
		}
	}
}

// admits tries the pod of a workload, as it is and as root.
func (p *plane) admits(name string, workload []byte) {
	p.t.Helper()
	var w struct {
		Spec struct {
			Template struct{ Spec json.RawMessage }
		}
	}
	if err := json.Unmarshal(workload, &w); err != nil {
		p.t.Fatal(err)
	}
	if w.Spec.Template.Spec == nil {
		return
	}
	pod := func(spec string) []byte {
		if name == "cell" { // the StatefulSet adds its claim
			spec = strings.Replace(spec, `"volumes":[`, `"volumes":[{"name":"data","emptyDir":{}},`, 1)
		}
		return []byte(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "` + name + `"}, "spec": ` + spec + `}`)
	}
	const path = "/api/v1/namespaces/doorlab/pods?dryRun=All&fieldValidation=Strict"
	if status, b := p.ask("POST", path, pod(string(w.Spec.Template.Spec))); status != 201 {
		p.t.Errorf("the pod of %s: got %d %s, want 201", name, status, b)
	}
	root := strings.Replace(string(w.Spec.Template.Spec), `"runAsNonRoot":true`, `"runAsNonRoot":false`, 1)
	if status, _ := p.ask("POST", path, pod(root)); status != 403 {
		p.t.Errorf("the pod of %s as root: %d, want 403", name, status)
	}
}

// applyAll applies everything, strictly; what common has more than once.
func (p *plane) applyAll() {
	t := p.t
	t.Helper()
	if status, b := p.apply("Namespace", "v1", "doorlab", []byte(namespace)); status != 201 {
		t.Fatalf("the namespace: got %d %s, want 201", status, b)
	}
	for _, dir := range parts {
		for _, r := range rendered(t, dir) {
			b, err := r.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if status, answer := p.apply(r.GetKind(), r.GetApiVersion(), r.GetName(), b); status != 200 && status != 201 {
				t.Errorf("%s %s: got %d %s, want 200 or 201", r.GetKind(), r.GetName(), status, answer)
			}
		}
	}
}
