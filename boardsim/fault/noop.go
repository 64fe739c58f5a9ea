package fault

// noop: the commands it matches are counted, and that is all.
var noop = kind{name: "noop", incoming: func(params, *Incoming) bool { return true }}
