package loadtest

import "testing"

// TestKeysThatChangeNothing: a key that a plan would ignore is a mistake, and so are a needed key that is missing and a 0
// that would become the default.
func TestKeysThatChangeNothing(t *testing.T) {
	t.Parallel()
	refuses(t, map[string]badPlan{
		"ramp to nowhere":        {"pacer: ramp\nrate: 300/s\nduration: 1s\n", []string{"p.yaml:1:1: to is needed with pacer: ramp"}},
		"ramp of nothing":        {"pacer: ramp\nto: 0\nduration: 0s\n", []string{"p.yaml:2:1: rate or to must be above 0 with pacer: ramp", "p.yaml:3:1: duration must be above 0 with pacer: ramp"}},
		"a rate of 0":            {"rate: 0\nto: 0\nduration: 1s\n", []string{"p.yaml:1:1: rate must be above 0 with pacer: constant", "p.yaml:2:1: to must be left out with pacer: constant; it belongs to pacer: ramp or search"}},
		"stages alone":           {"stages:\n  - {rate: 5, duration: 1s}\n", []string{"p.yaml:1:1: stages must be left out with pacer: constant; it belongs to pacer: stages"}},
		"no stages":              {"pacer: stages\nstages: []\n", []string{"p.yaml:2:1: stages is needed with pacer: stages"}},
		"stage without rate":     {"pacer: stages\nstages:\n  - {rate: 5, duration: 1s}\n  - {to: 9, duration: 1s}\n", []string{"p.yaml:4:5: each stage needs a rate; rate: 0 is a pause"}},
		"precision of no search": {"rate: 1\nduration: 1s\nprecision: 5%\n", []string{"p.yaml:3:1: precision must be left out with pacer: constant"}},
		"skew of even doors":     {"rate: 1\nduration: 1s\nskew: 1.5\n", []string{"p.yaml:3:1: skew must be left out with doors: even"}},
		"skew of one door":       {"rate: 1\nduration: 1s\ndoors: one\nskew: 1.5\n", []string{"p.yaml:4:1: skew must be left out with doors: one"}},
		"no repeats":             {"rate: 1\nduration: 1s\nrepeatedAtOnce: 0%\nrepeatAfter: 1s\n", []string{"p.yaml:3:1: repeatedAtOnce must be left out without repeatedKeys", "p.yaml:4:1: repeatAfter must be left out without repeatedKeys"}},
		"none later":             {"rate: 1\nduration: 1s\nrepeatedKeys: 10%\nrepeatedAtOnce: 100%\nrepeatAfter: 1s\n", []string{"p.yaml:5:1: repeatAfter must be left out with repeatedAtOnce: 100%"}},
		"abort without a limit":  {"rate: 1\nduration: 1s\nabort: true\n", []string{"p.yaml:3:1: abort needs an upper limit among the thresholds: the load stops when one is broken"}},
		"abort at a lower one":   {"rate: 1\nduration: 1s\nabort: true\nthresholds: {rate_min: 1/s}\n", []string{"p.yaml:3:1: abort needs an upper limit among the thresholds: the load stops when one is broken"}},
		"no holds":               {"rate: 1\nduration: 1s\nholdMinutes: 5\n", []string{"p.yaml:3:1: holdMinutes must be left out without hold among the commands"}},
		"no commands": {"rate: 1\nduration: 1s\nrequests: {register: 100%}\ncommands: {hold: 100%}\nrepeatedKeys: 10%\nholdMinutes: 5\nreason: x\n", []string{
			"p.yaml:4:1: commands must be left out with requests without door commands", "p.yaml:5:1: repeatedKeys must be left out with requests without door commands",
			"p.yaml:6:1: holdMinutes must be left out with requests without door commands", "p.yaml:7:1: reason must be left out with requests without door commands and revocations"}},
		"zeros": {"rate: 1\nduration: 1s\ntimeout: 0s\nmaxLag: 0\nseed: 0\nrequests: {}\ncommands: {}\nfleet: {boards: 0}\nfaults: [{fault: slow, share: 1, for: 0s}]\n", []string{
			"p.yaml:3:1: timeout must be longer than 0", "p.yaml:4:1: maxLag must be longer than 0", "p.yaml:5:1: seed must not be 0; without it the seed is 1", "p.yaml:6:1: the shares add up to 0%, but must add up to 100%",
			"p.yaml:7:1: the shares add up to 0%, but must add up to 100%", "p.yaml:8:9: boards must be 1 to 2000000", "p.yaml:9:34: for must be longer than 0"}},
		"zeros of what is used": {"pacer: search\nrate: 1\nto: 2\nduration: 1s\nprecision: 0%\ndoors: zipf\nskew: 0\ncommands: {hold: 100%}\nholdMinutes: 0\nrepeatedKeys: 10%\nrepeatAfter: 0s\nthresholds: {errors: 0}\n", []string{
			"p.yaml:5:1: precision must be above 0", "p.yaml:7:1: skew must be above 1", "p.yaml:9:1: holdMinutes must be 1 to 1440", "p.yaml:11:1: repeatAfter must be longer than 0; repeatedAtOnce says how many follow at once"}},
	})
}
