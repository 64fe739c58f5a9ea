package fault

// offline: the line is cut cleanly, both ends see it, the board does not dial.
var offline = kind{name: "offline", line: func(_ params, _ bool, l *Line) { l.Offline = true }}
