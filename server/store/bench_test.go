package store

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

// BenchmarkLedger is a command's durable claim and settlement, for 64 and 256 callers of a fleet of 25 places. It
// reports CPU time, log bytes and commits per command.
func BenchmarkLedger(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) { ledger(b, callers) })
	}
}

// BenchmarkPermits registers durable entry permits, each with a new reference and person.
func BenchmarkPermits(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) { permits(b, callers) })
	}
}

func permits(b *testing.B, callers int) {
	fleet(b, callers, func(s *Store, places []world.Place) func(i int64) error {
		grants := grant.New(grant.Config{Clock: clock.Real{}, Store: s, Secret: pepper})
		from := clock.WallNow()
		to := from.Add(time.Hour)
		return func(i int64) error {
			p := &places[i%25]
			ref, phone := fmt.Sprint("4711-", i), fmt.Sprintf("010%08d", i)
			_, err := grants.Register(record.By{PlaceID: p.ID, KeyID: "key_01jc0000000000000000000000"}, grant.RegisterRequest{
				ExternalRef: &ref, Phone: &phone, StartsAt: &from, EndsAt: &to, DoorIDs: []string{p.Boards[i/25%40].Doors[0].ID}})
			return err
		}
	})
}

func ledger(b *testing.B, callers int) {
	fleet(b, callers, func(s *Store, places []world.Place) func(i int64) error {
		c, body := s.Commands(), []byte(strings.Repeat("b", 430)) // a 200 with its standing
		return func(i int64) error {
			p := &places[i%25]
			at := clock.WallNow()
			in := command.Intent{CommandID: id.New(id.Command, at), Order: command.Order{PlaceID: p.ID, Key: fmt.Sprint("4711-", i), DoorID: p.Boards[i%40].Doors[0].ID, Command: "open", Method: "api",
				ActorID: "api:key_01jc0000000000000000000000", ActorLabel: "default", EntryReason: "api"},
				BoardID: p.Boards[i%40].ID, RequestedAt: at, AgedAt: at, Status: 504, Body: body[:300]}
			in.Meaning = in.DoorID + "\nopen\n0\n"
			if _, err := c.Claim(in, epoch); err != nil {
				return err
			}
			return c.Settle(command.Settlement{Intent: in, Outcome: vocab.Reported, ReportedAt: at, Status: 200, Body: body})
		}
	})
}

// fleet measures callers' load on the store of 25 places with 40 boards each.
func fleet(b *testing.B, callers int, of func(s *Store, places []world.Place) func(i int64) error) {
	var commits atomic.Int64
	s := must.Get(Open(b.TempDir(), Options{Committed: func(int, time.Duration) { commits.Add(1) }}))(b)
	defer func() { _ = s.Close() }()
	w := &world.World{Seed: 1}
	for i := range 25 {
		w.Places = append(w.Places, world.Place{Name: fmt.Sprint("Place ", i), Kind: world.Live, Fleet: &world.Fleet{Boards: 40, DoorsPerBoard: 1}})
	}
	must.OK(b, w.Resolve())
	for _, p := range w.Places {
		for i := range p.Boards {
			p.Boards[i].Password = "pw"
		}
	}
	must.Get(s.Seed(w, pepper))(b)
	var n atomic.Int64
	used := func() time.Duration {
		var ru syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
		return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	call := of(s, w.Places)
	before := used()
	b.ReportAllocs()
	b.SetParallelism(max(1, callers/2))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := call(n.Add(1)); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64((used()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(commits.Load())/float64(b.N), "commits/op")
}

// BenchmarkReplays claims a key that already has an answer.
func BenchmarkReplays(b *testing.B) {
	fleet(b, 256, func(s *Store, places []world.Place) func(i int64) error {
		c := s.Commands()
		in := func(i int64) command.Intent {
			p := &places[i%25]
			at := clock.WallNow()
			return command.Intent{CommandID: id.New(id.Command, at), Order: command.Order{PlaceID: p.ID, Key: fmt.Sprint("replay-", i%256), DoorID: p.Boards[0].Doors[0].ID, Command: "open", Method: "api",
				ActorID: "api:key_01jc0000000000000000000000", ActorLabel: "default", EntryReason: "api"},
				BoardID: p.Boards[0].ID, RequestedAt: at, AgedAt: at, Status: 504, Body: make([]byte, 300), Meaning: "m"}
		}
		for i := range int64(256 * 25) {
			first := in(i)
			if prior, err := c.Claim(first, epoch); err != nil || prior != nil {
				continue
			}
			_ = c.Settle(command.Settlement{Intent: first, Outcome: vocab.Reported, ReportedAt: first.RequestedAt, Status: 200, Body: make([]byte, 430)})
		}
		return func(i int64) error {
			_, err := c.Claim(in(i), epoch)
			return err
		}
	})
}
