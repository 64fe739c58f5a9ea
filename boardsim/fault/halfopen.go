package fault

// halfopen: nothing passes and neither end is told.
var halfopen = kind{name: "halfopen", line: func(_ values, _ bool, l *Line) { l.HalfOpen = true }}
