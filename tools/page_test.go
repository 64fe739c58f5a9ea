package tools

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// pageBoard is a board written from docs/board-protocol.md alone, with a stock
// library and none of our types: hello, content with its digest from the bytes
// as they came, commands in time.
type pageBoard struct {
	paho.Client
	t        *testing.T
	id       string
	revision int64
	phoneKey []byte
	phones   map[string]bool // hashes
	digest   [16]byte
	grants   map[string][16]byte
	lists    map[string][16]byte // windows, doors, hours: of the whole value
	of       string              // the change whose pages are kept
	pages    int
	first    []byte
	parts    []json.RawMessage
	gone     []string
	paged    bool // a change in pages was applied
	epoch    int64
	base     int64
	sent     time.Time // of the hello
	agreed   chan int64
	online   chan struct{}
}

func (b *pageBoard) topic(channel string) string { return "sac/v1/" + b.id + "/" + channel }

func (b *pageBoard) say(channel string, v map[string]any) {
	raw, _ := json.Marshal(v)
	b.Publish(b.topic(channel), 0, false, raw)
}

func (b *pageBoard) xor(x [16]byte) {
	for i := range b.digest {
		b.digest[i] ^= x[i]
	}
}

func sum(kind string, items ...json.RawMessage) (out [16]byte) {
	for _, it := range items {
		h := sha256.Sum256(append([]byte(kind+"\n"), it...))
		for i := range out {
			out[i] ^= h[i]
		}
	}
	return out
}

func (b *pageBoard) hear(_ paho.Client, m paho.Message) {
	switch m.Topic() {
	case b.topic("ack"):
		var a struct {
			Type             string
			Epoch, SessionMs int64
		}
		_ = json.Unmarshal(m.Payload(), &a)
		switch a.Type {
		case "hello":
			b.epoch, b.base = a.Epoch, a.SessionMs
			close(b.online)
		case "digest":
			b.agreed <- b.revision
		}
	case b.topic("sync"):
		b.sync(m.Payload())
	case b.topic("cmd"):
		b.command(m.Payload())
	}
}

func (b *pageBoard) replace(kind string, there bool, items ...json.RawMessage) {
	if there {
		b.xor(b.lists[kind])
		b.lists[kind] = sum(kind, items...)
		b.xor(b.lists[kind])
	}
}
func (b *pageBoard) sync(payload []byte) {
	var y struct {
		From, To               int64
		Snapshot               bool
		Upsert, Windows, Doors []json.RawMessage
		Hours                  json.RawMessage
		Remove                 []string
		Digest, PhoneKey       string
		Page, Pages            int
	}
	if err := json.Unmarshal(payload, &y); err != nil {
		b.t.Error(err)
	}
	if y.Pages > 0 && !(y.Snapshot || y.From == b.revision) { // told below
		b.pages = 0
	} else if y.Pages > 0 {
		if of := fmt.Sprint(y.From, y.To, y.Digest); y.Page == 1 || of != b.of {
			b.of, b.pages, b.parts = of, 0, nil
		}
		if y.Page == b.pages+1 {
			b.pages++
			b.parts = append(b.parts, y.Upsert...)
			b.gone = append(b.gone, y.Remove...)
		}
		if y.Page == 1 {
			b.first = payload
		}
		if b.pages < y.Pages {
			b.say("ack", map[string]any{"type": "page", "revision": y.To, "page": b.pages})
			return
		}
		y.Upsert = nil // its memory is in parts
		if err := json.Unmarshal(b.first, &y); err != nil {
			b.t.Error(err)
		}
		y.Upsert, y.Remove = b.parts, b.gone
		b.of, b.pages, b.parts, b.gone, b.paged = "", 0, nil, nil, true
	}
	switch {
	case y.Snapshot:
		b.phones = map[string]bool{}
		b.phoneKey, _ = hex.DecodeString(y.PhoneKey)
		b.digest, b.grants, b.lists = [16]byte{}, map[string][16]byte{}, map[string][16]byte{}
	case y.From != b.revision || y.To == y.From:
		b.t.Errorf("from %d to %d at %d", y.From, y.To, b.revision)
		return
	}
	for _, id := range y.Remove {
		b.xor(b.grants[id])
		delete(b.grants, id)
	}
	for _, raw := range y.Upsert {
		var g struct{ ID, PhoneHash string }
		_ = json.Unmarshal(raw, &g)
		b.phones[g.PhoneHash] = true
		b.xor(b.grants[g.ID])
		b.grants[g.ID] = sum("grant", raw)
		b.xor(b.grants[g.ID])
	}

	b.replace("window", y.Windows != nil, y.Windows...)
	b.replace("door", y.Doors != nil, y.Doors...)
	b.replace("hours", y.Hours != nil, y.Hours)
	b.revision = y.To
	mine := hex.EncodeToString(b.digest[:])
	if mine != y.Digest {
		b.t.Errorf("revision %d: digest %s, the server says %s", y.To, mine, y.Digest)
	}
	b.say("ack", map[string]any{"type": "sync", "revision": b.revision, "digest": mine})
	b.say("digest", map[string]any{"revision": b.revision, "digest": mine})
}

func (b *pageBoard) command(payload []byte) {
	var c struct {
		ID                string
		Epoch, NotAfterMs int64
	}
	_ = json.Unmarshal(payload, &c)
	r := map[string]any{"commandId": c.ID, "epoch": c.Epoch, "result": "ok"}
	if c.Epoch != b.epoch || b.base+time.Since(b.sent).Milliseconds() > c.NotAfterMs {
		r["result"], r["code"] = "refused", "expired"
	}
	b.say("rpt", r)
}

// agree waits until the server has the board at a revision or beyond.
func (b *pageBoard) agree(atLeast int64) int64 {
	t := b.t
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case rev := <-b.agreed:
			if rev >= atLeast {
				return rev
			}
		case <-late:
			t.Fatalf("the server did not agree at revision %d", atLeast)
		}
	}
}

type login struct{ MQTT, ClientID, Username, Password string }

func connect(t *testing.T, login login) *pageBoard {
	t.Helper()
	b := &pageBoard{t: t, id: login.ClientID, agreed: make(chan int64, 64), online: make(chan struct{})}
	b.Client = paho.NewClient(paho.NewClientOptions().AddBroker(login.MQTT).SetProtocolVersion(4).SetClientID(login.ClientID).
		SetUsername(login.Username).SetPassword(login.Password).SetAutoReconnect(false).SetKeepAlive(30 * time.Second).SetDefaultPublishHandler(b.hear))
	if tok := b.Connect(); tok.Wait() && tok.Error() != nil {
		t.Fatal(tok.Error())
	}
	t.Cleanup(func() { b.Disconnect(0) })
	for _, ch := range []string{"cmd", "sync", "cfg", "ack"} {
		b.Subscribe(b.topic(ch), 0, nil).Wait()
	}
	return b
}

// hello begins the conversation of a board that has nothing.
func (b *pageBoard) hello() *pageBoard {
	b.sent = time.Now()
	b.say("hello", map[string]any{"proto": 2, "outageAgeMs": 0})
	<-b.online
	return b
}

// TestPageIsEnough: the page board in a simulated one's place.
func TestPageIsEnough(t *testing.T) {
	t.Parallel()
	w := world.Default(1, 1)
	bed := must.Get(testbed.Start(t.Context(), testbed.Config{World: w, Fleet: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = bed.Stop() })
	place := w.Places[1]
	door := place.Boards[0].Doors[0].ID
	var login login
	clienttest.Do(t, client.Client{Base: bed.Ready.Control, Token: bed.Ready.ControlToken}, "POST", "/lab/v1/boards/"+place.Boards[0].ID+"/detach", nil, &login)

	b := connect(t, login).hello()
	rev := b.agree(1)

	api := must.Get(client.Client{Base: bed.Ready.HTTP, HTTP: &http.Client{Transport: keyed{}, Timeout: 20 * time.Second}}.SignIn(t.Context(), place.MainKey().Secret))(t)
	permit := map[string]any{"externalRef": "r", "phone": "01012345678", "startsAt": time.Now().Format(time.RFC3339), "endsAt": time.Now().Add(time.Hour).Format(time.RFC3339)}
	for _, change := range []func(){
		func() { clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits", permit, nil) },
		func() {
			permit["endsAt"] = time.Now().Add(2 * time.Hour).Format(time.RFC3339)
			clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits", permit, nil)
		},
		func() {
			clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits/revoke", map[string]any{"externalRef": "r"}, nil)
		},
		func() { // more than fits one message
			var items []map[string]any
			for i := range 300 {
				items = append(items, map[string]any{"externalRef": fmt.Sprint(i), "phone": fmt.Sprint(1020000000 + i), "startsAt": "2026-01-01T00:00:00Z"})
			}
			clienttest.Do(t, api, "POST", "/space/v1/memberships/import", map[string]any{"source": "crm", "items": items}, nil)
		},
		func() { // over for so long that boards are told to forget it
			permit["startsAt"], permit["endsAt"] = "2025-10-01T00:00:00Z", "2025-10-02T00:00:00Z"
			clienttest.Do(t, api, "POST", "/space/v1/partner/entry-permits", permit, nil)
		},
		func() {
			clienttest.Do(t, api, "POST", "/device/v1/doors/"+door+"/policies", map[string]any{"window": map[string]string{"ref": "always"}, "mode": "free"}, nil)
		},
		func() {
			clienttest.Do(t, api, "PATCH", "/core/v1/places/"+place.ID, map[string]any{"hours": map[string]any{"week": map[string]any{"mon": [][2]string{{"10:00", "24:00"}}}}}, nil)
		},
	} {
		change()
		rev = b.agree(rev + 1)
	}
	if !b.paged { // a slow disk splits the import into changes that fit; everything at once doesn't fit
		known := b.phones
		b = connect(t, login).hello()
		b.agree(rev)
		maps.Copy(b.phones, known)
	}
	if !b.paged {
		t.Error("nothing came in pages, want 300 grants in several")
	}
	mac := hmac.New(sha256.New, b.phoneKey)
	mac.Write([]byte("phone\n01012345678"))
	if len(b.grants) != 300 {
		t.Errorf("%d grants are left, want the 300 memberships: the permit is over", len(b.grants))
	}
	if len(b.phoneKey) != 32 || !b.phones[hex.EncodeToString(mac.Sum(nil)[:16])] {
		t.Errorf("the guest's phone isn't among %d under a key of %d bytes, want it there and 32", len(b.phones), len(b.phoneKey))
	}
	var got struct{ Outcome string }
	clienttest.Do(t, api, "POST", "/device/v1/devices/"+door+"/commands", json.RawMessage(`{"capability":"door","command":"open"}`), &got)
	if got.Outcome != "reported" {
		t.Errorf("the command's outcome is %q, want reported", got.Outcome)
	}
}
