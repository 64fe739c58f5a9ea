package fault

// halfopen: nothing passes and neither end is notified.
var halfopen = kind{name: "halfopen", line: func(_ params, _ bool, l *Line) { l.HalfOpen = true }}
