// Package attack plays attacks over real sockets on a whole world, and measures
// what an uninvolved place feels of them and whether the process comes back to
// where it was. `make attack` plays them at full size; its short form is a test.
package attack
