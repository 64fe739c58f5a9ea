package api

import "github.com/doorlab/doorlab/server/grant"

// table maps operationIds to handlers.
func (a *api) table() map[string]handler {
	return map[string]handler{
		"exchangeKey": taking(exchangeKey),
		"updatePlace": taking(updatePlace),
		"getSchedule": getSchedule,
		"listEvents":  listEvents,

		"createPermit":      taking(createPermit),
		"listPermits":       listPermits,
		"revokePermit":      taking(revokePermit),
		"getPermit":         getPermit,
		"listRecords":       listRecords,
		"getGateConfig":     getGateConfig,
		"importCustomers":   importRows(Grants.ImportCustomers),
		"importMemberships": importRows(Grants.ImportMemberships),
		"listMemberships":   listTerms(grant.Membership, membershipView),
		"listCustomers":     listCustomers,
		"listReservations":  listTerms(grant.Reservation, reservationView),
		"createReservation": taking(createReservation),
		"cancelReservation": cancelReservation,

		"entryPage":  entryPage,
		"entryQRSVG": entryQRSVG,
		"entryQRPNG": entryQRPNG,
		"entryOpen":  entryOpen,

		"listDevices":    listDevices,
		"getDevice":      getDevice,
		"commandDevice":  takingFew(commandDevice),
		"listDoors":      listDoors,
		"openDoor":       legacyCommand("open"),
		"closeDoor":      legacyCommand("close"),
		"holdDoor":       legacyCommand("hold"),
		"listPolicies":   listPolicies,
		"setPolicy":      taking(setPolicy),
		"deletePolicies": deletePolicies,
		"listBoards":     listBoards,
		"getNetloss":     getNetloss,
		"setNetloss":     taking(setNetloss),

		"livez":   livez,
		"readyz":  readyz,
		"version": version,

		"coreDocument":   serveDocument("core"),
		"spaceDocument":  serveDocument("space"),
		"deviceDocument": serveDocument("device"),
		"coreDocs":       serveDocs("core"),
		"spaceDocs":      serveDocs("space"),
		"deviceDocs":     serveDocs("device"),
	}
}

// orNull is null for "".
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// tail is the last four digits of a phone: all that is ever shown of it.
func tail(phone string) string {
	if len(phone) < 4 {
		return ""
	}
	return phone[len(phone)-4:]
}

func (c *call) page() grant.ListQuery {
	return grant.ListQuery{ExternalRef: c.query.Str("externalRef"), Limit: c.query.Num("limit"), Offset: c.query.Num("offset")}
}
