package grant

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/shard"
)

// linksAtOnce bounds a transaction of RenewLinks, because other writes wait behind it.
const linksAtOnce = 100

// RenewLinks gives every unrevoked permit another entry link and returns their number. The previous links are dead for
// good, as after a revocation. Errors: the store's; permits renewed before the error keep their new links.
func (s *Service) RenewLinks() (renewed int, err error) {
	for after := ""; ; {
		ids, err := s.cfg.Store.Links(after, linksAtOnce)
		if err != nil || len(ids) == 0 {
			return renewed, err
		}
		n := 0
		err = s.cfg.Store.ChangeBehind(func(tx Tx) error {
			n = 0
			for _, id := range ids {
				old, err := tx.Grant(id)
				if err != nil {
					return err
				}
				if !old.RevokedAt.IsZero() {
					continue // revoked meanwhile
				}
				g := old
				g.Generation++ // see PERM-4
				g.UpdatedAt = tx.Now()
				s.link(&g)
				if err := tx.PutGrant("renew", &g, &old); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return renewed, err
		}
		renewed += n
		after = ids[len(ids)-1]
	}
}

// link derives a permit's LinkHash from its generation. A link made before labels were introduced keeps its form,
// because someone has it.
func (s *Service) link(g *Grant) {
	digits := s.digits(g, g.Generation)
	if unlabelled(g, digits) {
		return
	}
	token := labelled(g, digits)
	g.LinkHash, g.TokenHash = HashLink(token), access.HashToken(g.PlaceID, token)
}

// labelled is the token whose digits follow from the generation.
func labelled(g *Grant, digits string) string {
	return shard.Label(g.PlaceID) + digits[shard.LabelLen:]
}

// unlabelled: the permit's link was made before links began with their place's label. digits
// are those of its generation.
func unlabelled(g *Grant, digits string) bool {
	return g.LinkHash != "" && g.LinkHash == HashLink(digits)
}
