package bug

// calls are the bugs of calls over SIP.
var calls = []Bug{
	check("sip-from-beats-the-trunk", "ENT-1 PERM-1", "the caller is whom the trunk asserts, whatever From says", "calls_sip"),
	check("sip-privacy-ignored", "ENT-1 ENT-4", "who withholds a number over SIP calls without one", "calls_sip"),
	check("sip-name-taken-for-the-number", "ENT-1 PERM-1", "a name that callers choose over SIP is no number", "calls_sip"),
	check("sip-foreign-number-is-domestic", "ENT-1", "a foreign number over SIP is nobody's at home", "calls_sip"),
	check("sip-withheld-number-is-the-caller-before", "ENT-1", "a withheld number over SIP is nobody's", "calls_sip"),
	check("sip-international-caller-unknown", "PERM-1", "a caller's number over SIP is recognized with +82", "calls_sip"),
	check("sip-international-number-unknown", "PERM-1 ENT-3", "the number that is called over SIP is recognized with +82", "calls_sip"),
	check("sip-any-number-is-the-store", "PERM-1 ENT-3", "the number that is called over SIP decides which store it is", "calls_sip"),
	check("sip-copies-are-calls", "ENT-3", "a call over SIP is decided once, however often it is repeated", "calls_sip"),
	check("sip-refusal-says-busy", "ENT-1 ENT-3", "a refused call over SIP is declined", "calls_sip"),
	check("sip-failure-says-busy", "ENT-3", "busy over SIP means that the door opens", "calls_sip"),
	check("sip-nobody-is-busy", "PERM-1 ENT-3", "a call over SIP to nobody's number isn't answered", "calls_sip"),
	check("sip-calls-connect", "PERM-1 ENT-3", "no call over SIP is ever connected", "calls_sip"),
	check("sip-strangers-may-call", "ENT-1", "only trunks may call over SIP", "calls_sip_trunks"),
	check("sip-limits-count-nothing", "ENT-3", "a caller makes 60 calls a minute over SIP", "calls_sip"),
}
