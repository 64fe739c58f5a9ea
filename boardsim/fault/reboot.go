package fault

// reboot: the board starts again from its flash.
var reboot = kind{name: "reboot", instant: func(b Board, id string) { b.Reboot(id, false) }}
