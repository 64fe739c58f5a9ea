package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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

// serve shows what of counts. The returned function ends that and writes the last values to the run directory. It gets
// what came of the run and returns that; if the metrics failed, a run that was fine isn't any more, and of any other it is
// said.
func (f *metricsFlag) serve(e *env, of prometheus.Gatherer) (end func(dir string, run error) error, err error) {
	if f.addr == "" {
		return func(_ string, run error) error { return run }, nil
	}
	if err := address("metrics", f.addr); err != nil {
		return nil, err
	}
	url, stop, err := testbed.ServeMetrics(f.addr, version(), of)
	if err != nil {
		return nil, failf("%s", reason(err))
	}
	fmt.Fprintf(e.err, "metrics: %s\n", url)
	return func(dir string, run error) error {
		wrote := prometheus.WriteToTextfile(filepath.Join(dir, report.MetricsFile), of)
		if run != nil && errors.Is(wrote, fs.ErrNotExist) { // the run ended before it had a directory
			wrote = nil
		}
		failed := cmp.Or(trouble("--metrics", stop()), trouble(report.MetricsFile, wrote))
		if run != nil && failed != nil {
			fmt.Fprintf(e.err, "doorlab: %s\n", failed)
			return run
		}
		return cmp.Or(run, failed)
	}, nil
}
