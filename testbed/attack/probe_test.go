package attack

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// probe opens a door of an uninvolved place, up to 80 times a second.
type probe struct {
	a      *arena
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
	p := &probe{a: a, c: a.client(1), door: a.world.Places[1].Boards[0].Doors[0].ID}
	return p
}

// client speaks for a place.
func (a *arena) client(place int) client.Client {
	a.t.Helper()
	c := client.Client{Base: a.tb.Ready.HTTP}
	token, _, err := c.Exchange(context.Background(), *a.tb.Ready.Places[place].APIKey)
	if err != nil {
		a.t.Fatal(err)
	}
	c.Token = token
	return c
}

// probers is how many probe at the same time: a percentile needs samples.
const probers = 4

// during probes while f runs, each prober at least once.
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
	req, err := http.NewRequest(http.MethodPost, p.c.Base+"/device/v1/devices/"+p.door+"/commands", body(`{"capability":"door","command":"open"}`))
	if err != nil {
		return err
	}
	req.GetBody = nil
	req.Header.Set("Authorization", "Bearer "+p.c.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", fmt.Sprint("probe-", p.keys.Add(1)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	p.opened.Add(1)
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, want 200", resp.StatusCode)
	}
	return nil
}
