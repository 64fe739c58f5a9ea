package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/near"
)

// settle fills in every flag that was not given: environment (DOORLAB_<FLAG>)
// beats the --config file beats the default. A key of the file that is no flag
// of the command is an error that names the nearest one.
func settle(c *cobra.Command, e *env) error {
	fromFile := map[string]any{}
	path, at := "", map[string]string{}
	if f := c.Flags().Lookup("config"); f != nil {
		if path = f.Value.String(); path == "" {
			path = e.getenv("DOORLAB_CONFIG")
		}
	}
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return usagef("--config: %s", reason(err))
		}
		if err := yaml.NewDecoder(bytes.NewReader(b)).Decode(&fromFile); err != nil && !errors.Is(err, io.EOF) {
			return usagef("--config: %s%s", path, yamlReason(err))
		}
		at = keyPositions(b)
		for _, key := range slices.Sorted(maps.Keys(fromFile)) {
			if c.Flags().Lookup(key) == nil {
				return usagef("--config: %s%s: unknown key %q%s", path, at[key], key, near.Hint(key, flagNames(c)))
			}
		}
	}
	var bad error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if bad != nil || f.Changed || f.Name == "help" {
			return
		}
		name := variable(f.Name)
		if v := e.getenv(name); v != "" {
			if err := c.Flags().Set(f.Name, v); err != nil {
				bad = usagef("%s=%q: %s", name, v, flagReason(err))
			}
			return
		}
		if v, ok := fromFile[f.Name]; ok {
			if err := c.Flags().Set(f.Name, flagText(v)); err != nil {
				bad = usagef("--config: %s%s: %s: %s", path, at[f.Name], f.Name, flagReason(err))
			}
		}
	})
	return bad
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "DOORLAB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// yamlReason is ":line:column: what is wrong", on one line.
func yamlReason(err error) string {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		at := ye.GetToken().Position
		return fmt.Sprintf(":%d:%d: %s", at.Line, at.Column, ye.GetMessage())
	}
	return ": " + err.Error()
}

// keyPositions says where each key of a configuration file stands, as ":line:column".
func keyPositions(b []byte) map[string]string {
	at := map[string]string{}
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return at
	}
	for _, doc := range file.Docs {
		if m, ok := doc.Body.(ast.MapNode); ok {
			for it := m.MapRange(); it.Next(); {
				key := it.Key().GetToken()
				at[key.Value] = fmt.Sprintf(":%d:%d", key.Position.Line, key.Position.Column)
			}
		}
	}
	return at
}

// flagText is a value of the file as it would be typed: lists by comma, maps as name=value.
func flagText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		texts := make([]string, 0, len(v))
		for _, item := range v {
			texts = append(texts, flagText(item))
		}
		return strings.Join(texts, ",")
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

// flagReason is what is wrong with a value, without the noise of strconv.
func flagReason(err error) string {
	msg := err.Error()
	if i := strings.Index(msg, "strconv."); i >= 0 {
		msg = msg[i:]
		switch {
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
	return msg
}

// address checks the form of host:port; port 0 is any.
func address(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	n, errPort := strconv.Atoi(port)
	if err != nil || errPort != nil || n < 0 || n > 65535 {
		return usagef("--%s %q: must be host:port, port 0 picks a free one", flag, addr)
	}
	return nil
}

// oneOf checks a flag against its values.
func oneOf(flag, v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return usagef("--%s %q: must be one of %s", flag, v, strings.Join(allowed, ", "))
}

// reason is an error without the noise of where in the program it arose.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Path + ": " + pe.Err.Error()
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
