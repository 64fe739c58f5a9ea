package main

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/client"
)

// flagOf is the flag from which a field of a request to the control API comes.
var flagOf = map[string]string{
	"boards": "board", "placeId": "place", "share": "share", "doorIds": "door", "commands": "command", "nth": "nth", "for": "for", "params": "param",
	"entryPhone": "entry-phone", "timezone": "timezone", "closures": "closure", "holidays": "holiday", "entryPermitMaxHours": "max-hours",
	"doorId": "door", "phone": "phone", "at": "at", "status": "status", "scopes": "scope", "name": "name", "channel": "channel", "payload": "payload", "raw": "raw",
	"phoneEnabled": "phone-entry", "entry": "entry", "alone": "alone",
}

// given are those fields of a body whose flags were given.
func (l labCall) given(fields map[string]any) map[string]any {
	maps.DeleteFunc(fields, func(name string, _ any) bool { return !l.c.Flags().Changed(flagOf[name]) })
	return fields
}

// fieldError is callError with the flag in the place of the field that was refused, and with the argument in that of a
// clock's time.
func fieldError(c *cobra.Command, err error) error {
	fail, answered := errors.AsType[*client.Error](err)
	var details struct{ Field string }
	if !answered || fail.Status >= 500 || json.Unmarshal(fail.Details, &details) != nil || details.Field == "" {
		return callError(err)
	}
	wrong := strings.TrimPrefix(strings.TrimPrefix(fail.Message, details.Field), " ")
	field, _, _ := strings.Cut(details.Field, ".")
	field, _, _ = strings.Cut(field, "[")
	switch f := c.Flags().Lookup(flagOf[field]); {
	case f != nil && f.Changed:
		value := strings.Trim(f.Value.String(), "[]")
		return usagef("--%s %q: %s", f.Name, value, strings.TrimPrefix(wrong, `"`+value+`" `))
	case field == "by" || field == "to" && c.Name() == "advance":
		return usagef("%s %s: %s", commandPath(c), c.Flags().Arg(0), wrong)
	}
	return callError(err)
}
