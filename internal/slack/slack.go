// Package slack lets the kernel combine wake-ups. A Go process has a thread, sysmon, that wakes up every 20 µs while
// anything is running, plus the 50 µs of slack that Linux gives every timer: a server with 200 commands per second
// spends a tenth of its processor time on that, and each further process as much again. With 200 µs of slack it is less
// than half. Timers are that much less exact; Go rounds most of them to a millisecond anyway.
//
// A thread gets its slack from the one that started it, and sysmon starts before any Go code, so it is set in C, before
// the Go runtime begins. Import the package for this effect alone. Elsewhere than on Linux it does nothing.
package slack
