package firmware

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// present decides on site from the synchronized state, whether online or not, see OFF-1.
func (m *machine) present() {
	i := m.doorByID(m.ev.DoorID)
	if i < 0 {
		return
	}
	a := access.Decide(m.question()) // [OFF-1]
	r := wire.Record{Seq: m.Seq + 1, DoorID: m.ev.DoorID, At: m.ev.Wall, Result: vocab.Denied, Reason: a.Reason, GrantID: a.Grant,
		PhoneHash: m.ev.PhoneHash, TokenHash: m.ev.TokenHash, PhoneHead: m.ev.PhoneHead, PhoneTail: m.ev.PhoneTail}
	if r.TokenHash != "" {
		r.HolderHash = m.Content.holder(r.TokenHash)
	}
	d := m.door(i)
	if a.Allow {
		cause := CauseOnsite
		if a.Reason == vocab.FreeWindow { // [ENT-2]
			cause = CauseFree
		}
		r.Result = vocab.Opened
		d.PulseEnd = m.ev.Mono + PulseMs // over any resting behaviour
		m.journal(*d, ActPulse, cause, "", a.Grant)
	} else {
		m.journal(*d, ActDeny, CauseOnsite, "", "")
	}
	m.Seq++
	m.Records = append(m.Records, r)
	parts := PartRecord
	if len(m.Records) > MaxRecords {
		if m.Records[0].Seq <= m.sentSeq {
			m.overtaken++
		}
		m.Records = m.Records[1:]
		m.Dropped++
		parts |= PartCore
	}
	m.persist(parts)
	m.out = append(m.out, Effect{Kind: Decided, Record: r, Entry: Entry{DoorID: d.ID, Channel: d.Channel,
		GrantID: r.GrantID, Revision: m.Content.Revision, OutageAgeMs: m.Age(m.ev.Mono)}})
	m.upload()
}

func (m *machine) question() access.Question {
	now := time.UnixMilli(m.ev.Wall)
	q := access.Question{Now: now, Method: vocab.Onsite, DoorID: m.ev.DoorID, OutageMs: m.Age(m.ev.Mono)}
	if m.Outage.Over || access.OutageOver(q.OutageMs) { // [OFF-2] and until synchronized again
		q.OutageMs = -1
	}
	phone := m.ev.PhoneHash
	if m.ev.TokenHash != "" {
		q.Link = true
		phone, q.LinkOK = m.Content.link(m.ev.TokenHash)
	}
	q.Mode = access.Mode(m.Content.Windows, m.Content.hours(), m.ev.DoorID, now)
	q.Grants = m.Content.person(phone) // what was synchronized, whatever the server knows by now [SYNC-3]
	return q
}

// upload sends the oldest records, one batch at a time, see OFF-4.
func (m *machine) upload() {
	if !m.Outage.Online || m.Epoch == 0 || m.sentSeq > 0 || len(m.Records) == 0 {
		return
	}
	batch := slices.Clone(m.Records[:min(len(m.Records), batchSize)])
	m.sentSeq, m.sentAt, m.overtaken = batch[len(batch)-1].Seq, m.ev.Mono, 0
	m.publish(wire.UpRec, wire.Records{Records: batch, Dropped: m.Dropped}) // [OFF-4]
}

// recordsAcked drops what the server has committed and continues uploading.
func (m *machine) recordsAcked(seq int64) {
	n := 0
	for n < len(m.Records) && m.Records[n].Seq <= seq {
		n++
	}
	if n > 0 {
		m.Records = m.Records[n:]
		if len(m.Records) == 0 {
			m.Records = nil
		}
		m.persist(PartLazy)
	}
	if m.overtaken > 0 && m.sentSeq > 0 && seq >= m.sentSeq {
		m.Dropped, m.overtaken = m.Dropped-m.overtaken, 0
		m.persist(PartCore)
	}
	if seq >= m.sentSeq {
		m.sentSeq, m.tries = 0, 0
		m.upload()
	}
}

// again resends the batch in progress, whose acknowledgement is overdue.
func (m *machine) again() {
	if m.sentSeq > 0 {
		m.sentSeq, m.tries = 0, min(m.tries+1, 6)
		m.upload()
	}
}

// Upload identifies a batch in progress; zero = none.
type Upload struct {
	Seq, At int64
	Tries   int
}

// Upload is the batch in progress.
func (s State) Upload() Upload {
	if s.sentSeq == 0 {
		return Upload{}
	}
	return Upload{s.sentSeq, s.sentAt, s.tries}
}

// Patience is how long the board waits for its acknowledgement.
func (u Upload) Patience() time.Duration { return resendMs << u.Tries * time.Millisecond }

// resendAt is when an unacknowledged batch is uploaded again.
func (s State) resendAt() int64 { return s.sentAt + s.Upload().Patience().Milliseconds() }
