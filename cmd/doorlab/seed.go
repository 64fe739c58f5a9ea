package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// decimals has numbers with leading zeros mean what a person means: pflag takes 010 for 8.
func decimals(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Value.Type(), "int") {
			f.Value = decimal{f.Value}
		}
	})
	for _, s := range c.Commands() {
		decimals(s)
	}
}

type decimal struct{ pflag.Value }

func (d decimal) Set(text string) error {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		text = strconv.FormatInt(n, 10)
	}
	return d.Value.Set(text)
}

// seedValue is a seed that was given, 0 if none was: 0 itself would be taken for none.
type seedValue int64

func (v *seedValue) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && n > 0:
		return errors.New("is too large")
	case err != nil || n < 1:
		return errors.New("must be a whole number, 1 or more")
	}
	*v = seedValue(n)
	return nil
}

func (v *seedValue) String() string {
	if *v == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*v), 10)
}

func (*seedValue) Type() string { return "int" }
