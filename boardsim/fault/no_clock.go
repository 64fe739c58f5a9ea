package fault

// no-clock: the board loses its clock, and with it the outage age.
var noClock = kind{name: "no-clock", instant: func(b Board, id string) { b.LoseClock(id) }}
