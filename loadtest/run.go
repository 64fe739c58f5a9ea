package loadtest

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/internal/loopback"
	"github.com/doorlab/doorlab/internal/plot"
)

// ErrHost means that the target is another machine, which wasn't allowed.
var ErrHost = errors.New("is on another machine: add --allow-host if you are allowed to load-test it")

// ErrClock means that the clock of a target is too far off for the permits that the plan registers.
var ErrClock = errors.New("the plan registers permits for now (requests.register)")

// grace is how long pending answers may take after an interruption.
const grace = 2 * time.Second

// runner is one run: what its steps share.
type runner struct {
	plan    Plan
	opts    Options
	target  Target
	api     *api
	via     http.RoundTripper
	trust   *tls.Config
	doors   []door
	control []listener // that arm the plan's faults
	shard   *Shard     // which part of the whole this is; nil: all of it
	seed    int64
	begun   history.Event  // when and where the run began
	meter   *client.Meter  // of the clocks of the target's processes; nil = the target is the run's own
	encode  vegeta.Encoder // results.bin
	tried   int            // steps of a search so far

	sources  []http.RoundTripper // one a place
	follower sync.WaitGroup
}

// prepare resolves the target: tokens, doors.
func prepare(ctx context.Context, t Target, p Plan, o Options) (*runner, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	base, err := CheckHost(t.HTTP, o.AllowHost)
	if err != nil {
		return nil, err
	}
	if err := o.Part.Check(p); err != nil {
		return nil, err
	}
	if off := client.Off(t.Ahead); off != "" && p.Requests.Register > 0 {
		return nil, fmt.Errorf("%w, but %s", ErrClock, off)
	}
	places, part, err := o.Part.take(t.Places, p.withDefaults().Places)
	if err != nil {
		return nil, err
	}
	r := &runner{plan: p.withDefaults(), opts: o, target: t, seed: o.Seed, via: o.transport, trust: t.TLS, shard: part}
	def(&r.seed, p.Seed)
	def(&r.seed, 1)
	r.opts.Metrics = cmp.Or(o.Metrics, NewMetrics())
	r.api = &api{base: base, run: strings.ToLower(crand.Text()[:13]), history: o.History, domain: &domain{clock: o.Clock}}
	if r.via == nil {
		r.via = newTransport(nil, t.TLS)
	}
	if len(p.Faults) > 0 {
		if len(t.Control) == 0 {
			return nil, ErrNoFaults
		}
		r.control = r.listeners(ctx, clients(t))
	}
	if clock, ok := o.Clock.(Looker); ok {
		r.api.domain.ask = func(ctx context.Context) bool { clock.Look(ctx); return true }
	}
	if o.Clock == nil && len(t.Control) > 0 {
		d := r.api.domain
		d.ask = func(ctx context.Context) bool { return d.poll(ctx, r.via, t.Control[0], t.Token(0)) }
		if d.ask(ctx) {
			r.follower.Go(func() { d.follow(ctx) })
		}
	}
	if t.Marks != nil && o.Judge {
		r.meter = client.MeasureClocks(ctx, clients(t))
	}
	r.begun = history.Event{At: r.api.now().UnixMilli(), WallNs: clock.WallNow().UnixNano(), Text: r.api.run}
	r.api.promise.contract, r.api.promise.unread = contract.Read(func(path string) ([]byte, error) { return r.api.fetch(ctx, r.via, path) })
	return r, r.open(ctx, places)
}

// close ends what the run left running; its context must be over.
func (r *runner) close() {
	r.follower.Wait()
	for _, via := range append(r.sources, r.via) {
		if t, ok := via.(*http.Transport); ok {
			t.CloseIdleConnections()
		}
	}
}

// CheckHost is a target's address if a load may go there; nothing is sent there. Error: ErrHost.
func CheckHost(target string, allowed bool) (*url.URL, error) {
	base, err := url.Parse(target)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("target %q is not an address like http://127.0.0.1:8080", target)
	}
	if !allowed && !ours(base.Hostname(), net.LookupIP) {
		return nil, fmt.Errorf("%s %w", base.Host, ErrHost)
	}
	def(&base.Path, "/") // JoinPath on an empty path makes a relative one
	return base, nil
}

// ours reports whether a host is this machine, or a service of the same compose network: a one-word name with only
// private addresses.
func ours(host string, lookup func(string) ([]net.IP, error)) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	if host == "localhost" {
		return true
	}
	if strings.Contains(host, ".") {
		return false
	}
	ips, err := lookup(host)
	return err == nil && len(ips) > 0 && !slices.ContainsFunc(ips, func(ip net.IP) bool { return !ip.IsPrivate() && !ip.IsLoopback() })
}

// choose takes the live places, or the test places if there are no live ones.
func choose(all []Place, kind string) []Place {
	list := each.If(all, func(p Place) bool { return p.APIKey != "" && (kind == "all" || p.Kind == kind) })
	if len(list) == 0 && kind == "live" {
		return choose(all, "test")
	}
	return list
}

// open exchanges every key and lists every door, 16 places at a time.
func (r *runner) open(ctx context.Context, places []Place) error {
	found := make([][]door, len(places))
	errs := make([]error, len(places))
	slots := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i, p := range places {
		slots <- struct{}{}
		source, from := r.sourceOf(i)
		r.sources = append(r.sources, source)
		wg.Go(func() {
			defer func() { <-slots }()
			pl := newPlace(p, r.api, source, from)
			pl.token.SetPatient(true) // before the run only: a hit can't wait
			if found[i], errs[i] = pl.doors(ctx); errs[i] == nil {
				errs[i] = r.plan.Requests.may(pl)
			}
			pl.token.SetPatient(false)
		})
	}
	wg.Wait()
	for _, f := range found {
		r.doors = append(r.doors, slices.DeleteFunc(f, func(d door) bool { return slices.Contains(r.opts.Spare, d.id) })...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(r.doors) == 0 {
		return fmt.Errorf("%s: %w", amount.Many(len(places), "place"), ErrNoDoors)
	}
	return nil
}

// sourceOf gives place i its own address for exchanges: the limit is 30 per minute per address, see AUTH-3.
func (r *runner) sourceOf(i int) (via http.RoundTripper, from string) {
	if r.opts.transport != nil || !loopback.Is(r.api.base.Hostname()) {
		return r.via, ""
	}
	address := loopback.Load.Source(i)
	return newTransport(address, r.trust), address.String()
}

// attack sends one schedule and collects its results.
func (r *runner) attack(ctx context.Context, s *schedule, name string) (*collector, *source, *wire, error) {
	_, most := workers(s, time.Duration(r.plan.Timeout))
	return r.attackBy(ctx, s, name, most, nil)
}

// attackBy takes a cap on workers, and a function that sees each result, so that tests can show what a generator that
// is too weak looks like.
func (r *runner) attackBy(ctx context.Context, s *schedule, name string, most uint64, see func(*vegeta.Result)) (*collector, *source, *wire, error) {
	src := newSource(r.plan, s, r.api.base, r.doors, r.seed, r.api.run+name, r.api.now)
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	w := &wire{api: r.api, source: src, via: r.via, ctx: hard}
	web := &http.Client{Transport: w, Timeout: time.Duration(r.plan.Timeout)}
	start, _ := workers(s, time.Duration(r.plan.Timeout))
	attacker := vegeta.NewAttacker(vegeta.Client(web), vegeta.Redirects(vegeta.NoFollow), vegeta.MaxBody(maxBody),
		vegeta.Workers(start), vegeta.MaxWorkers(most))
	defer context.AfterFunc(ctx, func() {
		attacker.Stop()
		clock.WallAfter(grace, cancel)
	})()

	pacing, stop := context.WithCancel(ctx) // vegeta's own Stop doesn't end a wait of the pacer
	defer stop()
	c := newCollector()
	c.pacer, c.metrics = &pacer{schedule: s, ctx: pacing, metrics: r.opts.Metrics}, r.opts.Metrics
	defer c.metrics.planned.Set(0)
	defer c.progress(r.opts.Progress, s, name)()
	end := r.disturb(ctx, src.uses)
	var failed error
	for res := range attacker.Attack(src.target, c.pacer, 0, name) {
		c.add(res)
		if r.encode != nil && failed == nil {
			failed = r.encode(res)
		}
		if see != nil {
			see(res)
		}
		if r.plan.Abort && c.aborted == nil {
			if broken := r.broken(c); broken != nil {
				c.mu.Lock()
				c.aborted = broken
				c.mu.Unlock()
				stop()
				attacker.Stop()
			}
		}
	}
	c.faults = end()
	return c, src, w, failed
}

// workers starts with enough for one second, and caps at no less than what piles up during the longest stall, because
// otherwise the stall would throttle the load.
func workers(s *schedule, timeout time.Duration) (start, most uint64) {
	pile := math.Ceil(s.peak()*(timeout.Seconds()+5)) + 100
	start = uint64(min(max(s.peak(), 16), 8000, float64(max(s.total, 1))))
	return start, uint64(pile)
}

// progress shows the attack's progress; the returned function ends it.
func (c *collector) progress(screen live.Screen, s *schedule, name string) (stop func()) {
	screen.Every = 2 * time.Second
	began := clock.Mono()
	return live.Start(screen, func() string { return c.line(name, s, (clock.Mono() - began).Seconds()) }).End
}

// line is what is shown so many seconds after the start.
func (c *collector) line(name string, s *schedule, spent float64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := fmt.Sprintf("%s: %.0f s of %.0f s, %s of %s answered", name, min(spent, s.seconds), s.seconds, amount.Number(c.sent-c.silent), amount.Number(s.total))
	if c.silent > 0 {
		out += fmt.Sprintf(", %s without an answer", amount.Number(c.silent))
	}
	left := s.seconds - spent
	switch {
	case c.aborted != nil:
		return out + ", stopped because " + c.aborted.Name + " is broken, waiting for the last answers"
	case left <= 0:
		return out + ", waiting for the last answers"
	}
	out += ", " + amount.Duration(math.Ceil(left)) + " left"
	last := c.series.newest - 1
	if p, open := c.series.points[last], c.series.open[last]; p != nil && open != nil {
		since := slices.Sorted(slices.Values(open))
		out += fmt.Sprintf("; last second: %s sent, p99 %s, slowest %s, lag %s", amount.Number(p.Sent), ms(plot.Quantile(since, 0.99)), ms(p.Max), ms(p.Lag))
	}
	return out
}
