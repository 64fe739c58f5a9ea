package bug

// lists are bugs that show only when the same is asked for in another way.
var lists = []Bug{
	check("seconds-in-a-list", "CMD-1", "times in answers have milliseconds, in lists, too", "devices_values"),
	check("refusal-page-is-a-success", "ENT-3", "a form that is refused gets 409, with a page", "entry_outcomes"),
	check("code-of-a-dead-link", "PERM-4", "a dead link has no QR code", "permits_create"),
	check("total-of-a-middle-page-is-its-end", "ENT-4 IMP-1", "total counts all matches, even for a page in the middle", "records_queries lists_agree"),
	check("first-total-stays", "PERM-1 IMP-1", "total includes what was added a moment ago", "lists_agree"),
	check("cancelled-active-in-a-whole-list", "PERM-1 IMP-1", "a reservation has the same state in every list", "lists_agree"),
	check("windows-of-the-mode-in-force", "ENT-2 LEG-1", "at most one window of a door is active", "windows_rules"),
	check("doors-counted-before-they-collapse", "PERM-6", "duplicates in doorIds collapse before they are counted", "permits_rules"),
	check("token-taken-from-the-address", "AUTH-2", "a token counts only in the Authorization header", "auth_tokens"),
	check("key-trimmed", "AUTH-1 AUTH-2", "a key followed by a blank is not a valid key", "auth_tokens"),
	check("third-value-of-a-list-ignored", "ENT-4", "events can be filtered by any number of kinds and doors", "records_queries"),
	check("empty-limit-is-none", "ENT-4 PERM-1", "a limit that is not an integer is refused", "limits_values"),
	check("row-numbers-are-text", "IMP-1", "a row whose phone is a number fails", "imports_rows"),
	check("opening-without-its-door-name", "ENT-4", "a list shows each door by its one name", "records_queries records_values"),
	check("value-after-a-blank-not-found", "ENT-4", "a blank after a comma means nothing", "records_queries"),
	check("null-doors-of-a-row-are-none", "IMP-1", "null doorIds of a row are as good as none", "imports_again"),
	check("passed-on-membership-makes-no-customer", "IMP-1", "a membership that passes to a new phone creates its customer", "imports_again"),
	check("end-that-moves-by-a-millisecond-not-kept", "PERM-3", "a period is kept to the millisecond", "permits_again"),
	check("link-of-a-revocation-by-id-comes-back", "PERM-4", "a link that was revoked by the permit's id stays dead for good", "permits_pending"),
	check("repeated-revocation-without-its-reason", "PERM-4", "a repeated revocation is answered with the first reason", "permits_pending"),
	check("link-page-tells-the-start-in-utc", "PERM-7", "the link's page tells the start in the store's time", "permits_pending"),
	check("stranger-in-an-outage-without-a-head", "ENT-4 OFF-4", "a board's record shows the phone that was presented, first three and last four digits", "outage_36h"),
	check("challenge-for-a-scope-gone", "AUTH-2", "the challenge for a missing scope follows RFC 6750", "auth_tokens"),
	check("place-kind-gone-of-a-missing-scope", "AUTH-2", "every answer to a valid token names the kind of place", "auth_tokens"),
}
