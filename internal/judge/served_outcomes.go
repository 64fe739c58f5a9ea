package judge

import "fmt"

// Ent3 judges ENT-3: what links and phones are told equals the reference, by the
// same routine on boards, and ends in the same outcomes as commands.
func Ent3(v *View) Verdict {
	s := v.served()
	t := s.of("ENT-3")
	return t.verdict(v, "ENT-3", fmt.Sprintf("%s links and calls decided like the reference", count(t.checked))).
		triedIf(v.told, s.kept+min(s.links, s.calls), "no link and no call was refused, and only one of the two was tried")
}

// Hrs1 judges HRS-1: hours that were changed are in the server's content, by which
// windows go, when the change is answered.
func Hrs1(v *View) Verdict {
	s := v.second()
	t := s.of("HRS-1")
	return t.verdict(v, "HRS-1", fmt.Sprintf("%s changes of hours, in force when answered", count(t.checked))).
		triedIf(v.told, len(s.rescheduled), "hours were only set to what they were").
		triedIf(v.told, v.followed(s.rescheduled), "nobody looked at what follows hours after they had changed")
}
