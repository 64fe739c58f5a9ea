package main

import (
	"errors"
	"strconv"
)

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
