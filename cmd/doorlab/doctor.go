package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/doctor"
	"github.com/doorlab/doorlab/internal/listen"
)

// looking is how long doctor watches the clock.
const looking = 300 * time.Millisecond

func doctorCommand(e *env) *cobra.Command {
	var http, mqtt, control, data string
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check this machine: descriptors, ports, clock, disk, and how many boards fit", Args: noArgs,
		Example: `  doorlab doctor
  doorlab doctor --data /var/lib/doorlab --http 0.0.0.0:8080`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cmp.Or(address("http", http), address("mqtt", mqtt), ifAny("control", control)); err != nil {
				return err
			}
			data = cmp.Or(data, os.TempDir())
			m := doctor.Machine{Descriptors: listen.Descriptors(), Memory: doctor.Memory(os.DirFS("/")), CPUs: runtime.GOMAXPROCS(0)}
			findings := []doctor.Finding{doctor.Descriptors(m.Descriptors), doctor.Port("http", http), doctor.Port("mqtt", mqtt)}
			if control != "" {
				findings = append(findings, doctor.Port("control", control))
			}
			begin := clock.Real{}.Now() // what the machine says, however it is set
			if !waited(c.Context(), looking) {
				return exit{codeInterrupted, "interrupted"}
			}
			end := clock.Real{}.Now()
			findings = append(findings, doctor.Clock(end, end.Round(0).Sub(begin.Round(0)), end.Sub(begin), built()),
				doctor.Zones("Asia/Seoul"), doctor.Disk(data, clock.WallNow), doctor.Fit(m))
			return diagnosis(e, findings, asJSON)
		},
	}
	c.Flags().StringVar(&http, "http", "127.0.0.1:8080", "address that up or serve will listen on")
	c.Flags().StringVar(&mqtt, "mqtt", "127.0.0.1:1883", "address of the broker")
	c.Flags().StringVar(&control, "control", "127.0.0.1:8081", `address of the control API ("" = none)`)
	c.Flags().StringVar(&data, "data", "", "data directory whose disk is measured (default: the temporary directory)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return c
}

// diagnosis prints what was found; something bad is a failure.
func diagnosis(e *env, findings []doctor.Finding, asJSON bool) error {
	bad := 0
	for _, f := range findings {
		if f.State == doctor.Bad {
			bad++
		}
		if !asJSON {
			fmt.Fprintf(e.out, "%-4s  %-12s %s\n", f.State, f.Name, f.Says)
			if f.Do != "" {
				fmt.Fprintf(e.out, "%19s%s\n", "", f.Do)
			}
		}
	}
	if asJSON {
		if err := json.NewEncoder(e.out).Encode(findings); err != nil {
			return failf("%s", err)
		}
	}
	if bad > 0 {
		return failf("doctor: %s would keep doorlab from starting", amount.Many(bad, "problem"))
	}
	return nil
}

// built is when the commit of this build was made; zero = unknown.
func built() (at time.Time) {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.time" {
				at, _ = time.Parse(time.RFC3339, s.Value)
			}
		}
	}
	return at
}
