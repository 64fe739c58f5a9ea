package api

import (
	"github.com/doorlab/doorlab/internal/each"
	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

// importRows takes rows that succeed or fail independently, see IMP-1.
func importRows(run func(Grants, record.By, grant.ImportRequest) (grant.ImportResult, error)) handler {
	return taking(func(c *call, b gen.Import) (any, error) {
		r, err := run(c.api.cfg.Grants, c.caller(), grant.ImportRequest{Source: &b.Source, Items: b.Items})
		return gen.Imported{Source: r.Source, Received: r.Received, Created: r.Created, Updated: r.Updated, Unchanged: r.Unchanged, Failed: r.Failed,
			Results: each.Of(r.Results, func(x grant.RowResult) gen.ImportedRow {
				return gen.ImportedRow{Index: x.Index, ExternalRef: orNull(x.ExternalRef), ID: orNull(x.ID), Status: x.Status, Error: x.Error, Message: x.Message}
			})}, err
	})
}
