package fault

// oneway-up: what the board sends is lost.
var onewayUp = kind{name: "oneway-up", line: func(_ params, _ bool, l *Line) { l.OnewayUp = true }}
