// Package explore tries every interleaving of one door command: its tests drive
// the real command service and the real firmware through every order of writes,
// deliveries, losses, duplicates, time-outs and deaths. It has tests only.
package explore
