// Package k8s has no product code: its tests ask Kubernetes what it makes of deploy/k8s, by its own types and by a
// real API server and controller manager, built from their Go module ('make k8s-test'). It is a module of its own:
// nothing of this is linked into doorlab.
package k8s
