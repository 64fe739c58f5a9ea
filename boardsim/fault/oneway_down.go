package fault

// oneway-down: what the server sends is lost.
var onewayDown = kind{name: "oneway-down", line: func(_ params, _ bool, l *Line) { l.OnewayDown = true }}
