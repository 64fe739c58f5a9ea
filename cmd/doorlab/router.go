package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/router"
	"github.com/doorlab/doorlab/internal/world"
)

func routerCommand(e *env) *cobra.Command {
	var file, dir string
	var seed int64
	var boards int
	var clock string
	var rc router.Config
	c := &cobra.Command{
		Use:   "router",
		Short: "Write the HAProxy configuration for several servers that divide the places",
		Example: `  doorlab router --world stores.yaml --shards 3 --out ./router && haproxy -f ./router/haproxy.cfg
  doorlab router --shards 3 --boards 300 --cell-http 127.0.0.1:808{i} --cell-mqtt 127.0.0.1:188{i}   # prints the files`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if err := cmp.Or(oneOf("clock", clock, "real", "virtual"), boardsFlag(boards, 0), address("http", rc.HTTP), address("mqtt", rc.MQTT)); err != nil {
				return err
			}
			rc.Virtual = clock == "virtual"
			rc.World = world.Default(max(seed, 1), boards)
			if file != "" {
				if rc.World, err = loadWorld(c.Context(), file, seed); err != nil {
					return err
				}
			}
			if !c.Flags().Changed("shards") && len(rc.World.Places) == 1 {
				return usagef("router: the world has one place, so there is nothing to divide: pass --world, or --boards for the built-in world")
			}
			if !c.Flags().Changed("shards") {
				return usagef("router: --shards is missing: the number of servers, 1 to %d (the places in the world)", len(rc.World.Places))
			}
			files, err := router.Files(rc)
			if err != nil {
				return usagef("--shards %d: %s", rc.Shards, err)
			}
			return writeRouter(e, dir, files)
		},
	}
	s := c.Flags()
	s.StringVar(&file, "world", "", "world file, the same as the servers' (default: the built-in world)")
	s.Var((*seedValue)(&seed), "seed", "seed, the same as the servers' (default: the world file's, otherwise 1)")
	s.IntVar(&boards, "boards", 0, "number of boards in the built-in world, the same as the servers' (not with --world)")
	s.IntVar(&rc.Shards, "shards", 0, "number of servers; server i runs with --shard i/n")
	s.StringVar(&dir, "out", "", "directory to write the files to (default: print them)")
	s.StringVar(&rc.HTTP, "http", "127.0.0.1:8080", "address where the router accepts requests")
	s.StringVar(&rc.MQTT, "mqtt", "127.0.0.1:1883", "address where the router accepts boards")
	s.StringVar(&clock, "clock", "real", "real or virtual, the same as the servers'; on virtual clocks each server limits token exchanges by itself")
	s.StringVar(&rc.PEM, "pem", "", "file with certificate and key for both addresses; the path as HAProxy sees it (default: no TLS)")
	s.StringSliceVar(&rc.CellHTTP, "cell-http", []string{"cell-{i}:8080"}, "API addresses of the servers: a pattern in which {i} counts from 1 and {k} from 0, or one address for each")
	s.StringSliceVar(&rc.CellMQTT, "cell-mqtt", []string{"cell-{i}:1883"}, "the same for their brokers")
	s.StringSliceVar(&rc.CellSIP, "cell-sip", []string{"cell-{i}:5060"}, "the same for their phone entry, for sip.map")
	return c
}

// writeRouter puts the files beside each other into a directory, or prints them with a line above each.
func writeRouter(e *env, dir string, files []router.File) error {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return failf("--out: %s", reason(err))
		}
	}
	for _, f := range files {
		if dir == "" {
			fmt.Fprintf(e.out, "-- %s --\n%s\n", f.Name, f.Text)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o644); err != nil {
			return failf("--out: %s", reason(err))
		}
	}
	return nil
}
