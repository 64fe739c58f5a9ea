package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/testbed"
)

// metricsFlag is where a check or a load shows what it counts while it runs.
type metricsFlag struct{ addr string }

func (f *metricsFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.addr, "metrics", "", "address for Prometheus metrics of this run, e.g. 127.0.0.1:8083; their last values are also in metrics.prom in the run directory (default: off)")
}

// serve shows what of counts. The returned function ends that and writes the last values to the run directory.
func (f *metricsFlag) serve(e *env, of prometheus.Gatherer) (end func(dir string) error, err error) {
	if f.addr == "" {
		return func(string) error { return nil }, nil
	}
	if err := address("metrics", f.addr); err != nil {
		return nil, err
	}
	url, stop, err := testbed.ServeMetrics(f.addr, version(), of)
	if err != nil {
		return nil, failf("%s", reason(err))
	}
	fmt.Fprintf(e.err, "metrics: %s\n", url)
	return func(dir string) error {
		return trouble("metrics.prom", errors.Join(stop(), prometheus.WriteToTextfile(filepath.Join(dir, report.MetricsFile), of)))
	}, nil
}
