-- The limit of token exchanges over all cells: at most 30 of one address within any 60 s, as each server holds
-- it by itself. A stick table's rates are estimates, and a caller that waited for Retry-After must be let in.
local most, span, sweep_at = 30, 60, 1024
local taken, known = {}, 0 -- by network: when its latest exchanges were admitted, oldest first

local function drop_stale(calls, now)
	while calls[1] and now - calls[1] >= span do
		table.remove(calls, 1)
	end
end

-- what counts as one address: an IPv4 address or an IPv6 /64
local function network(txn)
	local from = tostring(txn.f:src()):gsub("^::ffff:", "")
	if from:find(":", 1, true) then
		return tostring(txn.c:ipmask(from, 32, 64))
	end
	return from
end

core.register_action("admit_exchange", { "http-req" }, function(txn)
	local time = core.now()
	local now, key = time.sec + time.usec / 1e6, network(txn)
	if known >= sweep_at then
		for k, calls in pairs(taken) do
			drop_stale(calls, now)
			if not calls[1] then
				taken[k], known = nil, known - 1
			end
		end
		sweep_at = math.max(1024, 2 * known)
	end
	local calls = taken[key]
	if not calls then
		calls, known = {}, known + 1
		taken[key] = calls
	end
	drop_stale(calls, now)
	if #calls < most then
		calls[#calls + 1] = now
	else -- a refused one doesn't count
		txn:set_var("txn.retry", math.ceil(calls[1] + span - now))
	end
end)
