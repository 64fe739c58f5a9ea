package attack

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
)

// probe opens a door of an uninvolved place, up to 80 times a second.
type probe struct {
	c      client.Client
	door   string
	keys   atomic.Int64
	opened atomic.Int64
}

type feeling struct {
	took  []time.Duration
	wrong []string
}

func (f feeling) p99() time.Duration { return percentile(f.took, 99) }
func (f feeling) String() string {
	return fmt.Sprintf("%.0f/%.0f ms (%d)", percentile(f.took, 50).Seconds()*1000, f.p99().Seconds()*1000, len(f.took))
}

func newProbe(a *arena) *probe {
	return &probe{c: a.client(1), door: a.world.Places[1].Boards[0].Doors[0].ID}
}

// client returns a client of a place.
func (a *arena) client(place int) client.Client {
	a.t.Helper()
	c := must.Get(client.Client{Base: a.tb.Ready.HTTP}.SignIn(context.Background(), *a.tb.Ready.Places[place].APIKey))(a.t)
	return c
}

// probers is the number of concurrent probes: a percentile needs samples.
const probers = 4

// during probes while f runs; each prober probes at least once.
func (p *probe) during(f func()) (felt feeling) {
	stop := make(chan struct{})
	var mu sync.Mutex
	var done sync.WaitGroup
	for range probers {
		done.Go(func() {
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for {
				began := time.Now()
				err := p.open()
				took := time.Since(began)
				mu.Lock()
				if felt.took = append(felt.took, took); err != nil {
					felt.wrong = append(felt.wrong, "the uninvolved place: "+err.Error())
				}
				mu.Unlock()
				select {
				case <-stop:
					return
				case <-tick.C:
				}
			}
		})
	}
	f()
	close(stop)
	done.Wait()
	return felt
}

func (p *probe) open() error {
	a, err := p.c.Open(context.Background(), p.door, fmt.Sprint("probe-", p.keys.Add(1)))
	if err != nil {
		return err
	}
	p.opened.Add(1)
	if a.Status != http.StatusOK {
		return fmt.Errorf("got %v, want 200", a)
	}
	return nil
}
