package testbed

import (
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/server/console"
)

// inboxHooks are what the inbox shows besides the requests.
func (t *Testbed) inboxHooks() console.Inbox {
	documents, _ := Contract() // without them, the inbox doesn't say what was ignored
	return console.Inbox{Ignored: documents.Ignored, Recorder: t.inbox, Base: func() string { return t.Ready.HTTP }, Site: t.site,
		Moved: func(doorID, commandID string) any { return t.fleet.Did(doorID, commandID) }}
}

// site is where in the world a place's boards and doors are; false for an unknown place.
func (t *Testbed) site(placeID string) (s inbox.Site, ok bool) {
	for _, p := range t.cfg.World.Places {
		if p.ID != placeID {
			continue
		}
		s = inbox.Site{Kind: p.Kind, PlaceID: p.ID}
		for _, b := range p.Boards {
			s.Boards = append(s.Boards, b.ID)
			for _, d := range b.Doors {
				s.Doors = append(s.Doors, d.ID)
			}
		}
		return s, true
	}
	return s, false
}
