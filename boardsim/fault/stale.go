package fault

// stale: the report carries the epoch of an earlier connection.
var stale = kind{name: "stale", outgoing: func(_ params, out *Outgoing) bool {
	r := out.Report
	r.Epoch--
	return out.forge(r)
}}
