// Package planted holds the server's planted bugs as decorators of the parts that the composition puts together (see
// internal/bug). Only builds with the tag "planted" link it, and tests.
package planted

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/bug"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/console"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/sip"
	"github.com/doorlab/doorlab/server/store"
)

// In puts the named bug into a part of the server that can have it.
func In[T any](name string, part T) T {
	switch p := any(&part).(type) {
	case *command.Config:
		*p = Commands(name, *p)
	case *boardsync.Config:
		if name == bug.RevocationLost {
			p.Content, p.History = unrevoked{p.Content}, withDigest(p.History)
		}
		if loses(name) {
			p.Content, p.History = content{p.Content, name}, withDigest(p.History)
		}
	case *gateway.Sync:
		if name == bug.RevocationLost || loses(name) {
			*p = undigested{*p}
		}
	case *gateway.Reports:
		if name == "reports-lost-under-load" {
			*p = &reports{Reports: *p}
		}
		if name == "standing-of-an-overtaken-report" {
			*p = &misnumbered{Reports: *p}
		}
	case *gateway.Config:
		if k, ok := p.Records.(record.Keeper); ok {
			p.Records = record.Keeper{Store: recordStore{k.Store, name}}
		}
		if name == "first-of-a-batch-lost" {
			p.Records = uploads{p.Records}
		}
	case *store.Options:
		if name == "wrong-clock-believed" {
			p.Patience = 1
		}
	case *auth.Config:
		p.Store = authStore{p.Store, name}
	case *place.Config:
		p.Store = placeStore{p.Store, name}
	case *grant.Config:
		p.Store = grantStore{p.Store, name}
		if name == "states-a-second-late" {
			p.Clock = slow{p.Clock, time.Second}
		}
	case *entry.Config:
		p.Store = entryStore{p.Store, name, p.Clock, new(atomic.Pointer[string]), new(sync.Map), newTogether()}
	case *api.Config:
		p.Keys = apiKeys(name, p.Keys, p.Directory)
		p.Grants = grants{p.Grants, name, p.Directory, new(sync.Map), new(sync.Map)}
		p.Entry = doorman{p.Entry, name}
		if name == "netloss-merged-before-its-turn" {
			p.Boards = hasty{p.Boards}
		}
		if name == "refusals-not-audited" {
			p.Audit = nil
		}
	case *console.Config:
		p.Entry = callsOf(name, *p)
	case *sip.Config:
		*p = callsOver(name, *p)
	case *http.Handler:
		if e, ok := edges()[name]; ok {
			*p = e.around(*p)
		}
	}
	return part
}

// edges are the bugs of values, by name.
func edges() map[string]edge {
	out := map[string]edge{}
	for _, m := range []map[string]edge{tokenValues, permitValues, importValues, recordValues, deviceValues, askedValues, listValues} {
		maps.Copy(out, m)
	}
	return out
}

// unrevoked leaves revoked grants out of what boards are sent ...
type unrevoked struct{ boardsync.Content }

func (c unrevoked) SyncContent(placeID string, from int64) (wire.Sync, error) {
	y, err := c.Content.SyncContent(placeID, from)
	y.Upsert = slices.DeleteFunc(y.Upsert, func(g access.Grant) bool { return g.Revoked })
	return y, err
}

// ... undigested keeps the digests from showing it to the synchronization ...
type undigested struct{ gateway.Sync }

var said sync.Map // board id -> the digest of its last acknowledgement

// ... and withDigest puts them back for the history: the judge sees what boards say.
func withDigest(h func(history.Event)) func(history.Event) {
	if h == nil {
		return nil
	}
	return func(e history.Event) {
		if d, ok := said.Load(e.BoardID); ok && e.Kind == history.Applied {
			e.Digest = d.(string)
		}
		h(e)
	}
}

func (s undigested) Connected(c board.Hello) {
	c.Digest = ""
	s.Sync.Connected(c)
}

func (s undigested) Acked(boardID string, epoch, revision int64, digest string) string {
	said.Store(boardID, digest)
	return s.Sync.Acked(boardID, epoch, revision, "")
}

func (s undigested) Digest(boardID string, epoch, revision int64, _ string) (bool, string) {
	return s.Sync.Digest(boardID, epoch, revision, "")
}
