package loadtest

import (
	"math"
	"sort"
	"time"
)

// schedule is a plan's pace as a pure function: when hit n is due. Everything concerned with the intended time asks it,
// so that a generator that falls behind is noticed.
type schedule struct {
	legs    []leg
	wave    *wave
	seconds float64
	total   int64

	turns *turns // of a shard; nil = all requests are this schedule's
}

// leg runs from rate a to rate b within d seconds.
type leg struct{ start, before, a, b, d float64 }

// wave swings by amp around mean, starting at the mean and rising.
type wave struct{ mean, amp, period float64 }

func newSchedule(p Plan) *schedule {
	s := &schedule{seconds: time.Duration(p.Duration).Seconds()}
	switch p.Pacer {
	case "sine":
		s.wave = &wave{float64(p.Rate), float64(p.Amplitude), time.Duration(p.Period).Seconds()}
	case "stages":
		s.seconds = 0
		for _, st := range p.Stages {
			to := st.Rate
			if st.To != nil {
				to = *st.To
			}
			s.add(float64(st.Rate), float64(to), time.Duration(st.Duration).Seconds())
		}
	case "ramp":
		s.seconds = 0
		s.add(float64(p.Rate), float64(p.To), time.Duration(p.Duration).Seconds())
	default:
		s.seconds = 0
		s.add(float64(p.Rate), float64(p.Rate), time.Duration(p.Duration).Seconds())
	}
	s.close()
	return s
}

// rounded is how far sums of rates and times may be off.
const rounded = 1e-6

func (s *schedule) close() { s.total = int64(math.Ceil(s.hits(s.seconds) - rounded)) }

func (s *schedule) add(a, b, d float64) {
	s.legs = append(s.legs, leg{start: s.seconds, before: s.hits(s.seconds), a: a, b: b, d: d})
	s.seconds += d
}

// hits is how many are due in the first t seconds, over all shards.
func (s *schedule) hits(t float64) float64 {
	if s.wave != nil {
		w := s.wave
		turn := 2 * math.Pi / w.period
		return w.mean*t + w.amp/turn*(1-math.Cos(turn*t))
	}
	if len(s.legs) == 0 {
		return 0
	}
	i := sort.Search(len(s.legs), func(i int) bool { return s.legs[i].start > t }) - 1
	l := s.legs[max(i, 0)]
	x := min(t-l.start, l.d)
	return l.before + l.a*x + (l.b-l.a)*x*x/(2*l.d)
}

// at is when hit n (from 0) is due, counted from the start.
func (s *schedule) at(n int64) time.Duration {
	if s.turns != nil {
		n = s.turns.of(n)
	}
	var t float64
	if s.wave != nil {
		t = s.invert(float64(n))
	} else {
		i := sort.Search(len(s.legs), func(i int) bool { return s.legs[i].before > float64(n)+rounded }) - 1
		l := s.legs[max(i, 0)]
		m, k := float64(n)-l.before, (l.b-l.a)/(2*l.d)
		t = l.start
		if m > 0 {
			t += min(2*m/(l.a+math.Sqrt(max(l.a*l.a+4*k*m, 0))), l.d)
		}
	}
	return time.Duration(math.Round(t * 1e9))
}

// invert finds, by bisection, the time at which n hits are due.
func (s *schedule) invert(n float64) float64 {
	lo, hi := 0.0, s.seconds
	if n <= 0 {
		return 0
	}
	for hi-lo > 1e-8 {
		if mid := (lo + hi) / 2; s.hits(mid) < n {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// rate is the planned rate t seconds after the start.
func (s *schedule) rate(t float64) float64 { return s.rateOfAll(t) * s.turns.share() }

func (s *schedule) rateOfAll(t float64) float64 {
	if s.wave != nil {
		return s.wave.mean + s.wave.amp*math.Sin(2*math.Pi*t/s.wave.period)
	}
	for _, l := range s.legs {
		if t < l.start+l.d {
			return l.a + (l.b-l.a)*(t-l.start)/l.d
		}
	}
	return 0
}

// mean is the planned rate over the whole run. Requests per second would be more than that in a run too short for its
// last one.
func (s *schedule) mean() float64 {
	if s.seconds == 0 {
		return 0
	}
	return s.hits(s.seconds) / s.seconds * s.turns.share()
}

// peak is the highest rate of the run.
func (s *schedule) peak() float64 {
	high := 0.0
	if s.wave != nil {
		high = s.wave.mean + s.wave.amp
	}
	for _, l := range s.legs {
		high = max(high, l.a, l.b)
	}
	return high * s.turns.share()
}
