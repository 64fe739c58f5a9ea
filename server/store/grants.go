package store

import (
	"database/sql"
	"encoding/json"

	"github.com/doorlab/doorlab/server/grant"
)

const grantColumns = `id, place_id, kind, source, COALESCE(external_ref, ''), phone, name, starts_at, ends_at, doors,
	generation, COALESCE(link_hash, ''), token_hash, created_by, created_at, updated_at, revoked_at, COALESCE(revoke_reason, ''),
	use_count, first_used_at, rev`

func scanGrant(row interface{ Scan(...any) error }) (grant.Grant, error) {
	var g grant.Grant
	var doors string
	var starts, created, updated int64
	var ends, revoked, used sql.NullInt64
	err := row.Scan(&g.ID, &g.PlaceID, &g.Kind, &g.Source, &g.ExternalRef, &g.Phone, &g.Name, &starts, &ends, &doors,
		&g.Generation, &g.LinkHash, &g.TokenHash, &g.CreatedBy, &created, &updated, &revoked, &g.RevokeReason,
		&g.UseCount, &used, &g.Rev)
	if err != nil {
		return g, wrap(err)
	}
	g.StartsAt, g.CreatedAt, g.UpdatedAt = msTime(starts), msTime(created), msTime(updated)
	g.EndsAt, g.RevokedAt, g.FirstUsedAt = fromNull(ends), fromNull(revoked), fromNull(used)
	return g, json.Unmarshal([]byte(doors), &g.Doors)
}

// Grant reads one grant of any kind. ErrNotFound.
func (s *Store) Grant(id string) (grant.Grant, error) {
	return scanGrant(s.read.QueryRow("SELECT "+grantColumns+" FROM grants WHERE id = ?", id))
}

// GrantByLink finds a permit by the hash of its entry token; a revoked permit by
// that of its last, dead one. ErrNotFound.
func (s *Store) GrantByLink(linkHash string) (grant.Grant, error) {
	return scanGrant(s.read.QueryRow("SELECT "+grantColumns+" FROM grants WHERE link_hash = ?", linkHash))
}

// GrantsOf lists every grant of a person, any state.
func (s *Store) GrantsOf(placeID, phone string) ([]grant.Grant, error) {
	return collect(s.read, scanGrant, "SELECT "+grantColumns+" FROM grants WHERE place_id = ? AND phone = ? ORDER BY id", placeID, phone)
}

// putGrant writes a grant, new or not, raises the place's revision and keeps
// the content digest. It sets g.Rev.
func putGrant(tx *sql.Tx, g *grant.Grant, old *grant.Grant) error {
	rev, err := RaiseRevision(tx, g.PlaceID)
	if err != nil {
		return err
	}
	g.Rev = rev
	if old != nil {
		if err := toggle(tx, g.PlaceID, "grant", old.Content()); err != nil {
			return err
		}
	}
	if err := toggle(tx, g.PlaceID, "grant", g.Content()); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO grants (id, place_id, kind, source, external_ref, phone, name, starts_at, ends_at, doors,
			generation, link_hash, token_hash, created_by, created_at, updated_at, revoked_at, revoke_reason, use_count, first_used_at, rev)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET phone = excluded.phone, name = excluded.name, starts_at = excluded.starts_at,
			ends_at = excluded.ends_at, doors = excluded.doors, generation = excluded.generation, link_hash = excluded.link_hash,
			token_hash = excluded.token_hash, updated_at = excluded.updated_at, revoked_at = excluded.revoked_at,
			revoke_reason = excluded.revoke_reason, rev = excluded.rev`,
		g.ID, g.PlaceID, g.Kind, g.Source, textOrNull(g.ExternalRef), g.Phone, g.Name, g.StartsAt.UnixMilli(), toNull(g.EndsAt), jsonText(g.Doors),
		g.Generation, textOrNull(g.LinkHash), g.TokenHash, g.CreatedBy, g.CreatedAt.UnixMilli(), g.UpdatedAt.UnixMilli(), toNull(g.RevokedAt),
		textOrNull(g.RevokeReason), g.UseCount, toNull(g.FirstUsedAt), g.Rev)
	return err
}
