package fault

// reboot: the board starts anew with its flash as it was.
var reboot = kind{name: "reboot", instant: func(b Board, id string) { b.Reboot(id, false) }}
