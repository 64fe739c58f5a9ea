package fault

// noop: only counts the commands it matches.
var noop = kind{name: "noop", incoming: func(params, *Incoming) bool { return true }}
