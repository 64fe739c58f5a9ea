// Package explore tries every interleaving of one door command. Its tests drive the real command service and the real
// firmware through every order of writes, deliveries, losses, duplicates, timeouts and deaths. It contains only
// tests.
package explore
