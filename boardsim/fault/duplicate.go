package fault

// duplicate: the report goes out twice.
var duplicate = kind{name: "duplicate", rank: rankReport, command: func(_ values, _ func() float64, d *Decision) bool {
	return reports(d, &d.Duplicate)
}}

// reports sets a flag that shapes the report, if there will be one.
func reports(d *Decision, flag *bool) bool {
	if d.SilentBefore || d.SilentAfter {
		return false
	}
	*flag = true
	return true
}

// replaces sets a flag that replaces the report, if nothing else does.
func replaces(d *Decision, flag *bool) bool {
	return !d.Garbage && !d.WrongID && !d.Stale && reports(d, flag)
}
