package store

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
)

// BenchmarkLedger is a command's claim and settlement, durable, with 64 callers.
func BenchmarkLedger(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.Seed(testWorld(), pepper); err != nil {
		b.Fatal(err)
	}
	c := s.Commands()
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			in := intent(fmt.Sprintf("cmd_%09d", n.Add(1)), "")
			in.Key = in.CommandID
			if _, err := c.Claim(in, epoch); err != nil {
				b.Error(err)
			}
			if err := c.Settle(command.Settlement{Intent: in, Outcome: vocab.Reported, ReportedAt: epoch, Status: 200, Body: []byte("ok")}); err != nil {
				b.Error(err)
			}
		}
	})
}
