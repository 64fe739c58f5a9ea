package faults

import "time"

// Moment is written like every time of the API: UTC with milliseconds.
type Moment struct{ time.Time }

// MarshalJSON writes it.
func (m Moment) MarshalJSON() ([]byte, error) {
	return []byte(m.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// Armed is a fault in force, as the control API shows it.
type Armed struct {
	FaultID  string         `json:"faultId"`
	Fault    string         `json:"fault"`
	Boards   []string       `json:"boards"`
	Count    int            `json:"count"` // of Boards
	DoorIDs  []string       `json:"doorIds,omitempty"`
	Commands []string       `json:"commands,omitempty"`
	Nth      int            `json:"nth,omitempty"`
	Since    Moment         `json:"since"`
	Until    *Moment        `json:"until"` // nil = until removed
	Hits     int64          `json:"hits"`  // how often it did something
	Params   map[string]any `json:"params,omitempty"`
}
