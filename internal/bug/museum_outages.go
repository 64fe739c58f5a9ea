package bug

// syncs are the bugs of synchronization.
var syncs = []Bug{
	check("registrations-lost", "SYNC-1", "a registration reaches every connected board", "sync_permits"),
	check("sync-acknowledged-not-applied", "SYNC-1 SYNC-2", "a board has applied what it acknowledges", "sync_permits sync_storm"),
	check(RevocationLost, "SYNC-2", "a revocation reaches every connected board", "sync_storm"),
	check("outage-knows-what-others-know", "SYNC-3", "changes made in an outage act only after recovery", "sync_recovery outage_grants"),
	test("wrong-clock-believed", "SYNC-1", "what is registered stays on the boards for its period", "./testbed TestNothingAgesByTheMachinesClock"),
}

// outages are the bugs of outages and recovery.
var outages = []Bug{
	check("opened-in-outage-moves-nothing", "OFF-1 ENT-1", "the relay moves for somebody who is let in during an outage", "outage_grants outage_36h"),
	check("links-dead-in-outage", "OFF-1 ENT-1", "links work in an outage", "outage_links"),
	check("old-link-opens-on-site", "PERM-4 SYNC-3 OFF-4 ENT-1", "a link from before a revocation is dead for good, on site too", "outage_links"),
	check("new-link-not-synchronized", "SYNC-3 OFF-4 PERM-4 PERM-3", "a permit that is revoked and registered again in an outage has a new link afterwards", "outage_links"),
	check("phones-dead-in-outage", "OFF-1 ENT-1", "phones work in an outage", "outage_grants outage_36h"),
	check("reboot-forgets-content", "OFF-1 ENT-1", "what was synchronized survives a reboot in an outage", "outage_restart"),
	check(Outage36hGE, "OFF-2", "at exactly 36 h boards still decide", "outage_restart outage_36h"),
	check("decides-until-40-hours", "OFF-2", "over 36 h no board decides", "outage_36h"),
	check("stops-at-35-hours", "OFF-2 OFF-1", "below 36 h boards decide", "outage_36h"),
	check("reboot-restarts-outage-age", "OFF-2", "a reboot keeps the outage age", "outage_restart"),
	check("lost-clock-decides", "OFF-2", "a board that lost its clock doesn't decide", "outage_restart"),
	check("silent-outage-30s-short", "OFF-2", "a silent outage counts from exactly the last packet", "faults_halfopen"),
	check("connection-ends-outage", "OFF-2 SYNC-3 OFF-3 OFF-4", "a connection alone doesn't end an outage", "outage_deaf_line"),
	check("silent-outage-from-noticing", "OFF-2 OFF-3", "a silent outage counts from the last packet", "faults_halfopen"),
	check("rests-half-an-hour-late", "OFF-3", "the resting behaviour comes at graceSec", "outage_policy"),
	check("grace-of-0-is-the-default", "OFF-3", "a graceSec of 0 takes effect at once", "outage_policy"),
	check("hold-survives-a-resting-hold", "OFF-3 CMD-7", "a channel that rested on hold is locked at recovery", "outage_crowd outage_holds_rest"),
	check("rests-early", "OFF-3", "the resting behaviour comes no earlier than graceSec", "outage_policy outage_36h"),
	check("rests-as-channel-1", "OFF-3", "each channel has its own behaviour", "outage_policy outage_36h"),
	check("rest-hold-stays-after-recovery", "OFF-3", "hold ends at recovery", "outage_36h outage_policy"),
	check("rest-open-does-nothing", "OFF-3", "open gives one pulse", "outage_36h outage_policy"),
	check("rest-off-still-holds", "OFF-3", "off drives nothing", "outage_off_hold outage_policy outage_36h"),
	check("rest-repeated", "OFF-3", "the resting behaviour is applied once", "outage_policy outage_36h"),
	check("reboot-forgets-outage-policy", "OFF-3", "the stored behaviour survives a reboot", "outage_restart holds_reboot"),
	check("record-dedupe-gone", "OFF-4 ENT-4", "buffered records arrive once", "faults_duplicated_packets sync_recovery"),
	check("unstored-records-acknowledged", "OFF-4", "a board's records are acknowledged once they are stored", "disk_records"),
	check("first-of-a-batch-lost", "OFF-4 ENT-4", "all buffered records arrive", "sync_recovery outage_36h"),
	check("records-forgotten-when-sent", "OFF-4 ENT-4", "a record is kept until it is acknowledged", "sync_recovery outage_36h"),
	check("acknowledgement-forgets-one-record-more", "OFF-4 ENT-4", "every record of an outage arrives", "outage_crowd"),
	check("records-lost-in-outage", "OFF-4 ENT-4", "what happens in an outage is recorded", "sync_recovery outage_36h"),
	check("buffered-records-dated-now", "OFF-4 ENT-4", "occurredAt stays as it was", "outage_36h sync_recovery"),
	check("flash-loses-records", "OFF-4 ENT-4", "buffered records survive a reboot", "outage_records_reboot"),
}
