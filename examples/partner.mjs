// A partner's client: node partner.mjs BASE KEY [REASON...]. Needs nothing but Node 18.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const [base, key, ...reasons] = process.argv.slice(2);
let token;

function quit(message) {
  console.error(message);
  process.exit(1);
}
if (!key) quit("usage: node partner.mjs BASE KEY [REASON...]");

// What a call returned; a failure ends the program with the API's message.
const data = (a) => (a.status === 200 ? a.data : quit(`${a.status} ${a.error}: ${a.message}`));

// One API call: exchanges the key when there is no token or it has expired, and waits out a 429.
async function call(method, path, body, idempotencyKey) {
  if (!token && !path.endsWith("/token"))
    token = data(await call("POST", "/core/v1/auth/apikey/token", { key })).accessToken;
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (idempotencyKey) headers["Idempotency-Key"] = idempotencyKey;
  const res = await fetch(base + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(15_000) })
    .catch((e) => quit(`no answer from ${base}: ${e.cause?.message || e.cause?.code || e.message}`));
  const answer = { status: res.status, ...(await res.json()) };
  if (res.status === 429) await sleep(1000 * Number(res.headers.get("Retry-After")));
  else if (answer.error === "token_expired") token = undefined;
  else return answer;
  return call(method, path, body, idempotencyKey);
}

// Opens a door once. After a 504 the same key tells what came of it; after a 409 only a new key tries again.
async function openDoor(door, reason) {
  for (let attempt = 0; ; attempt++) {
    const once = randomUUID(), body = { capability: "door", command: "open", args: { reason } };
    const send = () => call("POST", `/device/v1/devices/${door}/commands`, body, once);
    let answer = await send();
    if (answer.status === 504) answer = await send();
    if (answer.status !== 409 || attempt) return answer.status === 200 ? "opened" : answer.error;
    await sleep(1000);
  }
}

const now = Date.now(), iso = (ms) => new Date(ms).toISOString();
const permit = data(await call("POST", "/space/v1/partner/entry-permits",
  { externalRef: "order-1", phone: "01012345678", name: "Kim", startsAt: iso(now), endsAt: iso(now + 86_400_000) }));
console.log("link", permit.url);
const door = data(await call("GET", "/device/v1/devices"))[0].id;
for (const reason of reasons.length ? reasons : ["front desk"]) console.log("door", await openDoor(door, reason));
