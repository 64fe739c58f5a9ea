// Package attack plays attacks over real sockets against a whole world. It measures how an uninvolved place is
// affected and whether the process returns to its previous state. `make attack` plays them at full size; the short
// form is a test.
package attack
