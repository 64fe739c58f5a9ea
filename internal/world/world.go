// Package world is the world file: which places, boards, doors and keys exist. The server seeds its database from it
// and the fleet builds its boards from it, so both derive the same ids from the same seed, and the same passwords from
// the same secret.
package world

import (
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/shard"
)

// World is a world file, or the default (see Default), after Resolve: every id and generated board is filled in,
// deterministically by Seed.
type World struct {
	Seed   int64   `yaml:"seed" json:"seed"`
	Places []Place `yaml:"places" json:"places"`
	// SeedGiven: the file or the caller of Parse specified the seed.
	SeedGiven bool `yaml:"-" json:"-"`
	// Part says which shard of a larger world this is, see Shard; zero = all of it.
	Part shard.Shard `yaml:"-" json:"-"`
}

// Kinds of places.
const (
	Test = "test"
	Live = "live"
)

// Place is one store.
type Place struct {
	ID          string           `yaml:"id" json:"id"`
	Name        string           `yaml:"name" json:"name"`
	Kind        string           `yaml:"kind" json:"kind"`
	Timezone    string           `yaml:"timezone" json:"timezone"` // default Asia/Seoul
	EntryPhone  string           `yaml:"entryPhone" json:"entryPhone"`
	Hours       access.Week      `yaml:"hours" json:"hours"`
	Closures    []access.Closure `yaml:"closures" json:"closures"`
	Holidays    []access.Holiday `yaml:"holidays" json:"holidays"`
	Boards      []Board          `yaml:"boards" json:"boards"`
	Fleet       *Fleet           `yaml:"fleet" json:"fleet"` // nil after Resolve
	Keys        []Key            `yaml:"keys" json:"keys"`
	Memberships []Membership     `yaml:"memberships" json:"memberships"`
	Report      *Report          `yaml:"-" json:"report"` // response time of the generated boards
}

// Board is one controller with its doors.
type Board struct {
	ID       string `yaml:"id" json:"id"`
	Name     string `yaml:"name" json:"name"`
	Password string `yaml:"password" json:"-"` // at least MinPassword characters; else derived
	Given    bool   `yaml:"-" json:"-"`        // Password is the file's own
	Doors    []Door `yaml:"doors" json:"doors" jsonschema:"required"`
}

// Door is wired to a channel of a board. Entry nil = true; EntryPermitMaxHours 0 = 720.
type Door struct {
	ID                  string `yaml:"id" json:"id"`
	Name                string `yaml:"name" json:"name"`
	Channel             int    `yaml:"channel" json:"channel"`
	Entry               *bool  `yaml:"entry" json:"entry"`
	EntryPermitMaxHours int    `yaml:"entryPermitMaxHours" json:"entryPermitMaxHours"`
}

// IsEntry reports whether people can enter through the door.
func (d Door) IsEntry() bool { return d.Entry == nil || *d.Entry }

// Fleet asks for generated boards.
type Fleet struct {
	Boards        int     `yaml:"boards" json:"boards" jsonschema:"required"`
	DoorsPerBoard int     `yaml:"doorsPerBoard" json:"doorsPerBoard"` // default 2
	Report        *Report `yaml:"report" json:"report"`
}

// Report is a response time distribution.
type Report struct {
	P50 time.Duration `yaml:"p50" json:"p50" jsonschema:"required"`
	P99 time.Duration `yaml:"p99" json:"p99" jsonschema:"required"`
}

// Reports is how soon the boards of a live place report: as its fleet says, or else 80 ms at the median and 400 ms at p99.
func (p *Place) Reports() Report {
	if p.Report != nil && p.Report.P50 > 0 {
		return Report{P50: p.Report.P50, P99: max(p.Report.P99, p.Report.P50)}
	}
	return Report{P50: 80 * time.Millisecond, P99: 400 * time.Millisecond}
}

// Key is an API key; Sim allows sim: reasons.
type Key struct {
	ID     string   `yaml:"id" json:"id"`
	Name   string   `yaml:"name" json:"name"`
	Scopes []string `yaml:"scopes" json:"scopes"`
	Sim    bool     `yaml:"sim" json:"sim"`
	Secret string   `yaml:"-" json:"-"` // the whole key, sact_.. or sacl_..
}

// Membership is a grant that exists from the start.
type Membership struct {
	Phone    string     `yaml:"phone" json:"phone" jsonschema:"required"`
	Name     string     `yaml:"name" json:"name"`
	StartsAt time.Time  `yaml:"startsAt" json:"startsAt" jsonschema:"required"`
	EndsAt   *time.Time `yaml:"endsAt" json:"endsAt"`
	DoorIDs  []string   `yaml:"doorIds" json:"doorIds"`
}
