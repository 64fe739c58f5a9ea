package api

import (
	"context"
	"encoding/json"

	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/rule"
)

// importCustomers and importMemberships take rows that stand alone [IMP-1].
func importCustomers(c *call) (any, error) { return c.importRows(c.api.cfg.Grants.ImportCustomers) }

func importMemberships(c *call) (any, error) { return c.importRows(c.api.cfg.Grants.ImportMemberships) }

func (c *call) importRows(run func(context.Context, grant.By, grant.ImportRequest) (grant.ImportResult, error)) (any, error) {
	// The rows go on as they came: the rules judge each by itself. The map keeps
	// encoding/json from taking "Items" for "items".
	var fields map[string]json.RawMessage
	var rows []json.RawMessage
	if json.Unmarshal(c.raw, &fields) != nil || json.Unmarshal(fields["items"], &rows) != nil {
		return nil, rule.New(rule.InvalidBody, "the body could not be read")
	}
	r, err := run(context.WithoutCancel(c.r.Context()), c.by(), grant.ImportRequest{Source: c.body.text("source"), Items: rows})
	if err != nil {
		return nil, err
	}
	return gen.Imported{Source: r.Source, Received: r.Received, Created: r.Created, Updated: r.Updated, Unchanged: r.Unchanged, Failed: r.Failed,
		Results: each(r.Results, func(x grant.RowResult) gen.ImportedRow {
			return gen.ImportedRow{Index: x.Index, ExternalRef: orNull(x.ExternalRef), ID: orNull(x.ID), Status: x.Status, Error: x.Error, Message: x.Message}
		})}, nil
}
