package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// readSettings fills in every flag that was not given: the environment
// (DOORLAB_<FLAG>) overrides the --config file, which overrides the default. A key
// of the file that is not a flag of the command is an error that suggests the
// nearest one.
func readSettings(c *cobra.Command, e *env) error {
	e.from = map[string]string{}
	fromFile := map[string]any{}
	path, at := "", map[string]strictyaml.Pos{}
	var inFile strictyaml.Problems
	config := func() string { return cmp.Or(e.from["config"], "--config") }
	if f := c.Flags().Lookup("config"); f != nil {
		if path = f.Value.String(); path == "" {
			path, e.from["config"] = e.getenv("DOORLAB_CONFIG"), "DOORLAB_CONFIG"
		}
	}
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return usagef("--config: %s", reason(err))
		}
		names := slices.DeleteFunc(flagNames(c), func(name string) bool { return name == "help" || name == "config" })
		err = strictyaml.Decode(path, b, &fromFile, nil, func(b *strictyaml.Binder) {
			for _, key := range slices.Sorted(maps.Keys(fromFile)) {
				if at[key] = b.KeyAt(key); !slices.Contains(names, key) {
					b.Problem(at[key], "unknown key %q%s", key, near.Hint(key, names))
				}
			}
		})
		if problems, ok := errors.AsType[strictyaml.Problems](err); ok && problems[0].Message != strictyaml.Empty {
			inFile = problems
		}
	}
	var wrong []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" {
			return
		}
		name := variable(f.Name)
		if v := e.getenv(name); v != "" {
			if err := c.Flags().Set(f.Name, v); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s=%q: %s", name, v, flagReason(err)))
			}
			e.from[f.Name] = name
			return
		}
		if v, ok := fromFile[f.Name]; ok {
			why := misshapen(f, v)
			if why == "" {
				if err := c.Flags().Set(f.Name, flagText(v)); err != nil {
					why = flagReason(err)
				}
			}
			if why != "" {
				inFile = append(inFile, strictyaml.Problem{Line: at[f.Name].Line, Col: at[f.Name].Col, Message: f.Name + ": " + why})
			}
			e.from[f.Name] = fmt.Sprintf("%s: %s:%d:%d: %s", config(), path, at[f.Name].Line, at[f.Name].Col, f.Name)
		}
	})
	if len(inFile) > 0 {
		wrong = append(wrong, config()+": "+inFile.Locate(path, nil).Short())
	}
	if len(wrong) > 0 {
		return usagef("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

var (
	flagInText = regexp.MustCompile(`--[a-z][a-z0-9-]*`)
	leaveOut   = regexp.MustCompile(`leave out --[a-z][a-z0-9-]*`)
)

// wrong is the first of these errors about flags, and with it all others that the --config file is to blame for: a line for each.
func (e *env) wrong(errs ...error) error {
	var msgs []string
	for _, err := range errs {
		if err == nil {
			continue
		}
		about, _, _ := strings.Cut(err.Error(), ": ")
		if flag := flagInText.FindString(about); len(msgs) == 0 || flag != "" && strings.Contains(e.from[flag[2:]], ":") {
			msgs = append(msgs, e.named(err.Error()))
		}
	}
	if len(msgs) == 0 {
		return nil
	}
	return usagef("%s", strings.Join(msgs, "\n"))
}

// named is a message about a flag with the name under which its value was set: a variable, or a key of the --config file
// with its line. It looks at the flags before the first colon, which say what is wrong; those after it say what to do, and
// a variable isn't left out but unset.
func (e *env) named(msg string) string {
	about, rest, colon := strings.Cut(msg, ": ")
	about = flagInText.ReplaceAllStringFunc(about, func(flag string) string {
		where := e.from[flag[2:]]
		if strings.Contains(where, ":") && !strings.HasPrefix(about, flag) {
			where = "" // a place in a file only fits the beginning
		}
		return cmp.Or(where, flag)
	})
	if colon {
		about += ": "
	}
	return about + leaveOut.ReplaceAllStringFunc(rest, func(advice string) string {
		flag := strings.TrimPrefix(advice, "leave out --")
		if name := variable(flag); e.from[flag] == name {
			return "unset " + name
		}
		return advice
	})
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "DOORLAB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// misshapen says why a value of the file can't be a flag's, "" if it can: a list is for flags that can be given more than
// once, a mapping for those of names.
func misshapen(f *pflag.Flag, v any) string {
	_, many := f.Value.(pflag.SliceValue)
	named := f.Value.Type() == "stringToString" || f.Value.Type() == (*retention)(nil).Type()
	switch v.(type) {
	case []any:
		if !many && !named {
			return "must be a single value, not a list"
		}
	case map[string]any:
		if !named {
			return "must not be a mapping"
		}
	}
	return ""
}

// flagText is a value of the file as it would be typed: lists with commas, maps as name=value.
func flagText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		return strings.Join(each.Of(v, flagText), ",")
	case map[string]any:
		texts := make([]string, 0, len(v))
		for name, item := range v {
			texts = append(texts, name+"="+flagText(item))
		}
		slices.Sort(texts)
		return strings.Join(texts, ",")
	}
	return fmt.Sprint(v)
}

func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// flagReason says what is wrong with a value, without strconv's prefixes.
func flagReason(err error) string {
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok && value.Unwrap() != nil {
		err = value.Unwrap()
	}
	msg := err.Error()
	if i := strings.Index(msg, "strconv."); i >= 0 {
		msg = msg[i:]
		switch {
		case strings.HasSuffix(msg, "value out of range"):
			return "is too large"
		case strings.HasPrefix(msg, "strconv.ParseInt"):
			return "must be a whole number"
		case strings.HasPrefix(msg, "strconv.ParseBool"):
			return "must be true or false"
		}
		return "must be a number"
	}
	if strings.Contains(msg, "time: ") {
		return `must be a duration like "90s" or "2m"`
	}
	if strings.HasSuffix(msg, "must be formatted as key=value") {
		return "must be name=value"
	}
	return msg
}

// address checks that addr is host:port; port 0 means any.
func address(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	n, errPort := strconv.Atoi(port)
	if flag == "control" && strings.Contains(addr, "://") {
		return usagef("--control %q: must be host:port to listen on (port 0 picks a free one); a URL is for commands that call a running server, "+
			"so pass --control 127.0.0.1:0 here, or unset DOORLAB_CONTROL", addr)
	}
	switch {
	case err == nil && errPort == nil && n >= 0 && n <= 65535:
		return nil
	case err == nil && errPort == nil:
		return usagef("--%s %q: the port must be 0 to 65535 (0 picks a free one)", flag, addr)
	}
	return usagef("--%s %q: must be host:port, such as %s (port 0 picks a free one)", flag, addr, likely(addr))
}

// likely is the address that was probably meant by one that lacks its host or port, or has a scheme.
func likely(addr string) string {
	if _, after, ok := strings.Cut(addr, "://"); ok {
		addr = strings.TrimSuffix(after, "/")
	}
	if n, err := strconv.Atoi(addr); err == nil && n >= 0 && n <= 65535 {
		return net.JoinHostPort("127.0.0.1", addr)
	}
	if host, port, err := net.SplitHostPort(addr); err == nil && host != "" && port != "" {
		return addr
	}
	return "127.0.0.1:0"
}

// ifAny checks an address that may be left out.
func ifAny(flag, addr string) error {
	if addr == "" {
		return nil
	}
	return address(flag, addr)
}

// oneOf checks a flag against its values.
func oneOf(flag, v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return usagef("--%s %q: must be one of %s", flag, v, strings.Join(allowed, ", "))
}

// reason is the error text without the program's internal context.
func reason(err error) string {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Path + ": " + pe.Err.Error()
	}
	return joined(err.Error())
}

// bare is the reason without the file that it is about.
func bare(err error) string {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		err = pe.Err
	}
	return reason(err)
}

func joined(s string) string { return strings.ReplaceAll(s, "\n", "; ") }
