package fault

// offline: the line is cut cleanly, both ends notice, and the board doesn't dial.
var offline = kind{name: "offline", line: func(_ params, _ bool, l *Line) { l.Offline = true }}
