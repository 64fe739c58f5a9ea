package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/testbed"
	"github.com/doorlab/doorlab/internal/world"
)

// pageBoard is a board written from docs/board-protocol.md alone, with a stock
// library and none of our types: hello, content with its digest from the bytes
// as they came, commands in time.
type pageBoard struct {
	paho.Client
	t        *testing.T
	id       string
	revision int64
	digest   [16]byte
	grants   map[string][16]byte
	lists    map[string][16]byte // windows, doors, hours: of the whole value
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

func (b *pageBoard) sync(payload []byte) {
	var y struct {
		From, To               int64
		Snapshot               bool
		Upsert, Windows, Doors []json.RawMessage
		Hours                  json.RawMessage
		Remove                 []string
		Digest                 string
	}
	if err := json.Unmarshal(payload, &y); err != nil {
		b.t.Error(err)
	}
	switch {
	case y.Snapshot:
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
		var g struct{ ID string }
		_ = json.Unmarshal(raw, &g)
		b.xor(b.grants[g.ID])
		b.grants[g.ID] = sum("grant", raw)
		b.xor(b.grants[g.ID])
	}
	replace := func(kind string, there bool, items ...json.RawMessage) {
		if there {
			b.xor(b.lists[kind])
			b.lists[kind] = sum(kind, items...)
			b.xor(b.lists[kind])
		}
	}
	replace("window", y.Windows != nil, y.Windows...)
	replace("door", y.Doors != nil, y.Doors...)
	replace("hours", y.Hours != nil, y.Hours)
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

// TestPageIsEnough: the page board in a simulated one's place.
func TestPageIsEnough(t *testing.T) {
	t.Parallel()
	w := world.Default(1, 1)
	bed, err := testbed.Start(t.Context(), testbed.Config{World: w, Fleet: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bed.Stop() })
	place := w.Places[1]
	door := place.Boards[0].Doors[0].ID
	var login struct{ MQTT, ClientID, Username, Password string }
	do(t, client.Client{Base: bed.Ready.Control, Token: bed.Ready.ControlToken}, "POST", "/lab/v1/boards/"+place.Boards[0].ID+"/detach", nil, &login)

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
	b.sent = time.Now()
	b.say("hello", map[string]any{"proto": 1, "outageAgeMs": 0})
	agreed := func(atLeast int64) int64 {
		t.Helper()
		late := time.After(20 * time.Second)
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
	<-b.online
	rev := agreed(1)

	api := client.Client{Base: bed.Ready.HTTP, HTTP: &http.Client{Transport: keyed{}, Timeout: 20 * time.Second}}
	if api.Token, _, err = api.Exchange(t.Context(), place.MainKey().Secret); err != nil {
		t.Fatal(err)
	}
	permit := map[string]any{"externalRef": "r", "phone": "01012345678", "startsAt": "2026-10-01T00:00:00Z", "endsAt": "2026-10-02T00:00:00Z"}
	for _, change := range []func(){
		func() { do(t, api, "POST", "/space/v1/partner/entry-permits", permit, nil) },
		func() {
			permit["endsAt"] = "2026-10-03T00:00:00Z"
			do(t, api, "POST", "/space/v1/partner/entry-permits", permit, nil)
		},
		func() {
			do(t, api, "POST", "/space/v1/partner/entry-permits/revoke", map[string]any{"externalRef": "r"}, nil)
		},
		func() {
			do(t, api, "POST", "/device/v1/doors/"+door+"/policies", map[string]any{"window": map[string]string{"ref": "always"}, "mode": "free"}, nil)
		},
		func() {
			do(t, api, "PATCH", "/core/v1/places/"+place.ID, map[string]any{"hours": map[string]any{"week": map[string]any{"mon": [][2]string{{"10:00", "24:00"}}}}}, nil)
		},
	} {
		change()
		rev = agreed(rev + 1)
	}
	var got struct{ Outcome string }
	do(t, api, "POST", "/device/v1/devices/"+door+"/commands", json.RawMessage(`{"capability":"door","command":"open"}`), &got)
	if got.Outcome != "reported" {
		t.Errorf("%+v", got)
	}
}
