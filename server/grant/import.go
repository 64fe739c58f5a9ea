package grant

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/mask"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// importBatch is how many rows share a transaction: few enough that door commands never wait long behind a large file.
const importBatch = 50

// importing is one import in progress.
type importing struct {
	by     record.By
	source string
	doors  []place.Door // of the place, as of the batch

	at      int          // the row's position in the file
	against map[int]bool // positions, see contradictions
}

type rowFunc func(tx Tx, im importing, row fields) (RowResult, error)

// ImportCustomers imports 1..5000 rows {externalRef, phone, name?}. Rows succeed or fail independently and apply in
// order; the same file again changes nothing, see IMP-1. Errors (*fail.Error) concern only the envelope: missing_field,
// invalid_field; the store's.
func (s *Service) ImportCustomers(by record.By, r ImportRequest) (ImportResult, error) {
	return s.importRows(by, r, "customers", customerRow)
}

// ImportMemberships imports rows {externalRef, phone, name?, startsAt, endsAt?, doorIds?}; a new phone also creates its
// customer. Errors: as ImportCustomers.
func (s *Service) ImportMemberships(by record.By, r ImportRequest) (ImportResult, error) {
	return s.importRows(by, r, "memberships", membershipRow)
}

// importRows runs f on every row. A row that breaks a rule fails alone; any other error ends the import, and the file
// can be sent again, see IMP-1.
func (s *Service) importRows(by record.By, r ImportRequest, what string, f rowFunc) (ImportResult, error) {
	if err := required("source", r.Source, maxSource); err != nil {
		return ImportResult{}, err
	}
	if *r.Source == "api" || *r.Source == "world" {
		return ImportResult{}, fail.Invalid("source", `must not be "api" or "world": these are reserved for what an operator creates`)
	}
	if r.Items == nil {
		return ImportResult{}, fail.Missing("items")
	}
	if n := len(r.Items); n < 1 || n > maxItems {
		return ImportResult{}, fail.Invalid("items", fmt.Sprintf("must have 1 to %d rows", maxItems))
	}
	end, err := s.imports.begin(by.PlaceID)
	if err != nil {
		return ImportResult{}, err
	}
	defer end()
	against := contradictions(r.Items)
	out := ImportResult{Source: *r.Source, Received: len(r.Items), Results: make([]RowResult, 0, len(r.Items))}
	for at := 0; at < len(r.Items); at += importBatch {
		rows := r.Items[at:min(at+importBatch, len(r.Items))]
		var results []RowResult
		err := s.changeBy(s.cfg.Store.ChangeBehind, func(tx Tx) (err error) {
			if at == 0 { // with the first rows, so that nothing is imported without it
				if err := tx.InsertAudit(record.Audit{PlaceID: by.PlaceID, KeyID: by.KeyID, RequestID: by.RequestID,
					Action: "import." + what, Detail: "source=" + mask.Text(*r.Source), Count: len(r.Items)}); err != nil {
					return err
				}
			}
			im := importing{by: by, source: *r.Source, against: against}
			if im.doors, err = tx.Doors(by.PlaceID); err != nil {
				return err
			}
			for i, raw := range rows {
				im.at = at + i
				res, err := importRow(tx, im, raw, f)
				if err != nil {
					return err
				}
				res.Index = at + i
				results = append(results, res)
			}
			return nil
		})
		if err != nil {
			return ImportResult{}, err
		}
		out.add(results)
	}
	return out, nil
}

func importRow(tx Tx, im importing, raw json.RawMessage, f rowFunc) (RowResult, error) {
	row, err := parseRow(raw)
	var res RowResult
	if err == nil {
		res, err = f(tx, im, row)
	}
	res.ExternalRef = value(row.ref)
	if broken, ok := errors.AsType[*fail.Error](err); ok { // [IMP-1] the row fails, the others go on
		return RowResult{ExternalRef: res.ExternalRef, Status: Failed, Error: broken.Code, Message: broken.Message}, nil
	}
	return res, err
}

func (r *ImportResult) add(rows []RowResult) {
	for _, x := range rows {
		switch x.Status {
		case created:
			r.Created++
		case updated:
			r.Updated++
		case unchanged:
			r.Unchanged++
		case Failed:
			r.Failed++
		}
	}
	r.Results = append(r.Results, rows...)
}

func customerRow(tx Tx, im importing, row fields) (RowResult, error) {
	phone, name, err := row.person()
	if err != nil {
		return RowResult{}, err
	}
	if im.against[im.at] {
		return RowResult{}, fail.New(fail.RuleViolated, "earlier rows of the file give this reference another phone, and name that phone without a reference; leave one of them out")
	}
	var old *Customer
	taken := false
	if row.ref != nil {
		old, err = find(tx.CustomerByRef(im.by.PlaceID, im.source, *row.ref))
	}
	if err == nil && old == nil {
		if old, err = find(tx.CustomerByPhone(im.by.PlaceID, im.source, phone)); old != nil && row.ref != nil {
			if old.ExternalRef != "" { // another customer with the same phone
				old = nil
			} else { // the customer gets the reference
				taken = true
				old.ExternalRef = *row.ref
			}
		}
	}
	if err != nil {
		return RowResult{}, err
	}
	now := tx.Now()
	switch {
	case old == nil:
		c := newCustomer(im, value(row.ref), phone, name, now)
		return RowResult{ID: c.ID, Status: created}, tx.PutCustomer(c)
	case old.Phone == phone && old.Name == name && !taken:
		return RowResult{ID: old.ID, Status: unchanged}, nil
	}
	old.Phone, old.Name, old.UpdatedAt = phone, name, now
	return RowResult{ID: old.ID, Status: updated}, tx.PutCustomer(*old)
}

func newCustomer(im importing, ref, phone, name string, now time.Time) Customer {
	return Customer{ID: id.New(id.Customer, now), PlaceID: im.by.PlaceID, Source: im.source, ExternalRef: ref,
		Phone: phone, Name: name, CreatedAt: now, UpdatedAt: now}
}

func membershipRow(tx Tx, im importing, row fields) (RowResult, error) {
	r, err := row.term()
	if err != nil {
		return RowResult{}, err
	}
	var old *Grant
	if row.ref != nil {
		old, err = find(tx.GrantByRef(im.by.PlaceID, access.KindMembership, im.source, *row.ref))
	} else {
		old, err = find(tx.GrantByPhone(im.by.PlaceID, access.KindMembership, im.source, *r.Phone))
	}
	if err != nil {
		return RowResult{}, err
	}
	g, status, err := putTerm(tx, im.by, access.KindMembership, im.source, r, old, im.doors)
	if err != nil {
		return RowResult{}, err
	}
	known, err := tx.HasCustomer(im.by.PlaceID, g.Phone)
	if err == nil && !known {
		err = tx.PutCustomer(newCustomer(im, "", g.Phone, g.Name, tx.Now()))
	}
	return RowResult{ID: g.ID, Status: status}, err
}
