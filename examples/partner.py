"""A partner's client: python3 partner.py BASE KEY [REASON...]. Needs nothing but Python."""
import json, sys, time, uuid
from datetime import datetime, timedelta, timezone
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

if len(sys.argv) < 3:
    sys.exit("usage: python3 partner.py BASE KEY [REASON...]")
BASE, KEY, REASONS = sys.argv[1], sys.argv[2], sys.argv[3:] or ["front desk"]
token = None

def data(status, answer):
    """What a call returned; a failure ends the program with the API's message."""
    return answer["data"] if status == 200 else sys.exit(f"{status} {answer['error']}: {answer['message']}")

def call(method, path, body=None, key=None):
    """One API call: exchanges the key when there is no token or it has expired, and waits out a 429."""
    global token
    if not token and not path.endswith("/token"):
        token = data(*call("POST", "/core/v1/auth/apikey/token", {"key": KEY}))["accessToken"]
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {}) | ({"Idempotency-Key": key} if key else {})
    try:
        with urlopen(Request(BASE + path, json.dumps(body).encode() if body else None, headers, method=method), timeout=15) as r:
            return r.status, json.load(r)
    except HTTPError as e:
        answer = json.load(e)
        if e.code == 429:
            time.sleep(float(e.headers["Retry-After"]))
        elif answer["error"] == "token_expired":
            token = None
        else:
            return e.code, answer
        return call(method, path, body, key)
    except (URLError, TimeoutError) as e:
        sys.exit(f"no answer from {BASE}: {getattr(e, 'reason', e)}")

def open_door(door, reason):
    """Opens a door once. After a 504 the same key tells what came of it; after a 409 only a new key tries again."""
    for attempt in range(2):
        key = str(uuid.uuid4())
        for _ in range(2):
            status, answer = call("POST", f"/device/v1/devices/{door}/commands", {"capability": "door", "command": "open", "args": {"reason": reason}}, key)
            if status != 504:
                break
        if status != 409 or attempt:
            return "opened" if status == 200 else answer["error"]
        time.sleep(1)

now = datetime.now(timezone.utc)
permit = data(*call("POST", "/space/v1/partner/entry-permits", {"externalRef": "order-1", "phone": "01012345678", "name": "Kim",
    "startsAt": now.isoformat(), "endsAt": (now + timedelta(days=1)).isoformat()}))
print("link", permit["url"])
door = data(*call("GET", "/device/v1/devices"))[0]["id"]
for reason in REASONS:
    print("door", open_door(door, reason))
