package loadtest

import (
	"fmt"
	"maps"
)

// At is the plan at another rate and for another time; 0 keeps the plan's own. The amplitude of a sine and rate_min move
// with the rate. Errors: a pacer without a single rate or duration, and a *PlanError for what no plan can be.
func (p Plan) At(rate Rate, d Duration) (Plan, error) {
	pacer := p.withDefaults().Pacer
	if rate > 0 {
		if pacer != "constant" && pacer != "sine" {
			return p, fmt.Errorf("the plan %s doesn't have one rate (pacer: %s), as constant and sine have", p.Name, pacer)
		}
		if text, ok := p.Thresholds["rate_min"]; ok {
			least, err := parseThreshold("rate_min", text)
			if err != nil {
				return p, err
			}
			p.Thresholds = maps.Clone(p.Thresholds)
			scaled, _ := (Rate(least.value) * rate / p.Rate).MarshalText() // never fails
			p.Thresholds["rate_min"] = string(scaled)
		}
		p.Amplitude *= rate / p.Rate
		p.Rate = rate
	}
	if d > 0 {
		if pacer == "stages" {
			return p, fmt.Errorf("%s has stages, each with a duration of its own", p.Name)
		}
		p.Duration = d
	}
	return p, p.Err()
}
