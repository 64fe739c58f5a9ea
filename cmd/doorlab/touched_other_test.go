//go:build !linux

package main

import (
	"context"
	"testing"
)

// touched tells nothing here: what is to be killed on a touch is killed when it has started.
func touched(context.Context, *testing.T, string) <-chan struct{} { return nil }
