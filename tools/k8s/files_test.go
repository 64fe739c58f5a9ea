package k8s

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// parts are the directories that are applied, in their order.
var parts = []string{".", "load", "check", "merge", "merge-check"}

// rendered are the objects of a directory, as kubectl kustomize makes them.
func rendered(t *testing.T, dir string) []*resource.Resource {
	t.Helper()
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../deploy/k8s/"+dir)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return m.Resources()
}

// TestFilesHaveOnlyKnownFields: every object is of a known kind and has no field that the kind hasn't.
func TestFilesHaveOnlyKnownFields(t *testing.T) {
	t.Parallel()
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Strict: true})
	kinds := map[string]int{}
	for _, dir := range parts {
		for _, r := range rendered(t, dir) {
			b, err := r.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := strict.Decode(b, nil, nil); err != nil {
				t.Errorf("%s %s: %v", r.GetKind(), r.GetName(), err)
			}
			if r.GetNamespace() != "doorlab" {
				t.Errorf("%s %s is in the namespace %q, want doorlab", r.GetKind(), r.GetName(), r.GetNamespace())
			}
			kinds[r.GetKind()]++
		}
	}
	for _, kind := range []string{"StatefulSet", "Deployment", "Job", "Service", "NetworkPolicy", "PodDisruptionBudget", "ConfigMap", "PersistentVolumeClaim"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s among %v", kind, kinds)
		}
	}
}
