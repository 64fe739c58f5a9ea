// Package k8s has no product code: its test decodes deploy/k8s by Kubernetes' own types ('make k8s-test'). It is a
// module of its own: nothing of this is linked into doorlab.
package k8s
