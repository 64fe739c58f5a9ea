package fault

// reboot-wiped: the board starts again with an empty flash.
var rebootWiped = kind{name: "reboot-wiped", instant: func(b Board, id string) { b.Reboot(id, true) }}
