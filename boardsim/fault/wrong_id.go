package fault

// wrong-id: the report names another command.
var wrongID = kind{name: "wrong-id", rank: rankWrongID, command: func(_ values, _ func() float64, d *Decision) bool {
	return replaces(d, &d.WrongID)
}}
