//go:build cgo

package slack

import "C" // slack_linux.c
