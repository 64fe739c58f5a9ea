// A partner's session with a running server, through prism: one validating
// proxy a document. Prints each call and every violation; ends with 1 if there
// was one, or an answer that was not expected.
//
//   node session.mjs http://127.0.0.1:8080 API_KEY
import {spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const [base, key] = process.argv.slice(2);
if (!key) {
  console.error('usage: node session.mjs BASE API_KEY');
  process.exit(2);
}
const dir = mkdtempSync(join(tmpdir(), 'prism-')), proxies = [], at = {};
let token = '', wrong = 0, calls = 0;

// prism starts a proxy for a document and gives its address.
async function prism(name) {
  const file = join(dir, name + '.json');
  writeFileSync(file, await (await fetch(`${base}/${name}/v1/openapi.json`)).text());
  const tool = fileURLToPath(new URL('node_modules/.bin/prism', import.meta.url));
  const p = spawn(tool, ['proxy', '-p', '0', '-h', '127.0.0.1', file, base], {stdio: ['ignore', 'pipe', 'inherit']});
  proxies.push(p);
  return new Promise((done, fail) => {
    let text = '';
    p.on('exit', () => fail(new Error('prism ended: ' + text)));
    p.stdout.on('data', chunk => {
      const m = /listening on (http:\/\/\S+)/.exec(text += chunk);
      if (m) done(m[1]);
    });
  });
}

async function call(want, method, path, body, headers = {}) {
  const name = {core: 'core', device: 'device'}[path.split('/')[1]] ?? 'space';
  headers = {...(token && {Authorization: 'Bearer ' + token}), ...(body && {'Content-Type': 'application/json'}), ...headers};
  const r = await fetch(at[name] + path, {method, headers, body: body && JSON.stringify(body)});
  const text = await r.text(), violations = r.headers.get('sl-violations');
  calls++;
  if (r.status !== want || violations) {
    wrong++;
    console.log(`${method} ${path}: ${r.status}, want ${want}\n  ${text.slice(0, 300)}\n  ${violations ?? ''}`);
  }
  try { return JSON.parse(text); } catch { return {}; }
}

const idem = () => ({'Idempotency-Key': randomUUID()});

async function session() {
  const {data} = await call(200, 'POST', '/core/v1/auth/apikey/token', {key});
  const {placeId} = data, permits = '/space/v1/partner/entry-permits', ref = 'prism-' + randomUUID();
  await call(401, 'POST', '/core/v1/auth/apikey/token', {key: 'none'});
  token = data.accessToken;
  const devices = (await call(200, 'GET', '/device/v1/devices')).data, door = devices[0].id;
  const now = Date.now(), time = h => new Date(now + h * 3600e3).toISOString();
  const permit = {externalRef: ref, phone: '01012345678', name: 'Kim', startsAt: time(-1), endsAt: time(5)};
  const made = (await call(200, 'POST', permits, permit)).data;
  await call(200, 'POST', permits, {...permit, doorIds: [door]});
  await call(409, 'POST', permits, {...permit, endsAt: time(1000)});
  await call(200, 'GET', `${permits}?externalRef=${ref}&limit=5`);
  await call(200, 'GET', `${permits}/${made.permitId}`);
  await call(404, 'GET', `${permits}/pmt_none`);
  await call(200, 'GET', '/space/v1/partner/gate-config');
  await call(200, 'GET', `/device/v1/devices/${door}`);
  const command = {capability: 'door', command: 'open', args: {reason: 'prism'}}, once = idem();
  await call(200, 'POST', `/device/v1/devices/${door}/commands`, command, once);
  await call(200, 'POST', `/device/v1/devices/${door}/commands`, command, once);
  await call(409, 'POST', `/device/v1/devices/${door}/commands`, {...command, command: 'close'}, once);
  await call(200, 'POST', `/device/v1/devices/${door}/commands`, {...command, command: 'hold', args: {minutes: 1}}, idem());
  if (key.startsWith('sact_')) {
    for (const [reason, want] of [['sim:offline', 409], ['sim:refused:jammed', 502], ['sim:noResponse', 504]]) {
      await call(want, 'POST', `/device/v1/devices/${door}/commands`, {...command, args: {reason}}, idem());
    }
  }
  for (const [op, body] of [['open'], ['hold', {minutes: 1}], ['close']]) {
    await call(200, 'POST', `/device/v1/doors/${door}/${op}`, body, idem());
  }
  await call(200, 'GET', '/device/v1/doors');
  const board = (await call(200, 'GET', '/device/v1/boards')).data.find(b => b.doorIds.includes(door));
  const netloss = (await call(200, 'GET', `/device/v1/boards/${board.boardId}/netloss`)).data;
  await call(200, 'PUT', `/device/v1/boards/${board.boardId}/netloss`, {graceSec: netloss.graceSec, channels: netloss.channels});
  await call(200, 'POST', `/device/v1/doors/${door}/policies`, {window: {ref: 'business_hours'}, mode: 'free'});
  await call(200, 'GET', `/device/v1/doors/${door}/policies`);
  await call(200, 'DELETE', `/device/v1/doors/${door}/policies?ref=business_hours`);
  await call(200, 'PATCH', `/core/v1/places/${placeId}`, {hours: {week: {mon: [['09:00', '22:00']]}}});
  await call(403, 'PATCH', '/core/v1/places/plc_other', {hours: {week: {}}});
  await call(200, 'GET', `/core/v1/public/places/${placeId}/schedule?days=14`);
  await call(200, 'POST', '/space/v1/customers/import', {source: 'prism', items: [{externalRef: 'c-1', phone: '01012345678', name: 'Kim'}]});
  await call(200, 'POST', '/space/v1/memberships/import', {source: 'prism', items: [{externalRef: 'm-1', phone: '01012345678', startsAt: time(-1)}]});
  const booked = (await call(200, 'POST', '/space/v1/reservations', {externalRef: ref, phone: '01012345678', startsAt: time(1), endsAt: time(2)})).data;
  await call(200, 'POST', `/space/v1/reservations/${booked.reservationId}/cancel`);
  for (const what of ['memberships', 'reservations', 'customers']) await call(200, 'GET', `/space/v1/${what}?limit=10`);
  await call(200, 'GET', `/entry?t=${made.entryToken}`);
  await call(200, 'GET', `/entry/qr.svg?t=${made.entryToken}`);
  await call(200, 'POST', '/entry/open', {t: made.entryToken, doorId: door});
  await call(200, 'POST', permits + '/revoke', {externalRef: ref, reason: 'over'});
  await call(404, 'POST', '/entry/open', {t: made.entryToken, doorId: door});
  await call(200, 'GET', '/space/v1/partner/entry-logs?sinceDays=1&limit=50');
  await call(200, 'GET', `/core/v1/places/${placeId}/events?kind=entry.opened,entry.denied,entry.permit.used`);
  token = '';
  await call(401, 'GET', '/device/v1/devices', undefined, {Authorization: 'Bearer none'});
}

try {
  for (const name of ['core', 'space', 'device']) at[name] = await prism(name);
  await session();
  console.log(`${calls} calls through prism, ${wrong} with a violation or an unexpected answer`);
} finally {
  for (const p of proxies) {
    p.removeAllListeners('exit');
    p.kill();
  }
  rmSync(dir, {recursive: true, force: true});
}
process.exit(wrong ? 1 : 0);
