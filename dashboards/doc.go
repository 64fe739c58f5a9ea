// Package dashboards holds the Prometheus configuration, its rules and the Grafana
// boards of docker-compose.yml. It has no code; its tests check every expression
// against a running product.
package dashboards
