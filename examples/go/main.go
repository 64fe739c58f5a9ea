// Command partner is a partner's client: go run ./examples/go BASE KEY [REASON...].
// It needs only the standard library.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var (
	base, key, token string
	client           = http.Client{Timeout: 15 * time.Second}
)

// answer is an API answer of any shape.
type answer struct {
	Status         int
	Data           json.RawMessage
	Error, Message string
}

// call makes one API call: it exchanges the key when there is no token or it has
// expired, and waits out a 429.
func call(method, path, idempotencyKey string, body any) (a answer) {
	if token == "" && !strings.HasSuffix(path, "/token") {
		var t struct{ AccessToken string }
		read(call("POST", "/core/v1/auth/apikey/token", "", map[string]string{"key": key}), &t)
		token = t.AccessToken
	}
	raw, _ := json.Marshal(body)
	req, err := http.NewRequest(method, base+path, bytes.NewReader(raw))
	if err != nil {
		log.Fatal(err)
	}
	req.GetBody = nil // the transport must not send a command again by itself
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	res, err := client.Do(req)
	if err != nil {
		log.Fatalf("no answer from %s: %v", base, err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		log.Fatal(err)
	}
	a.Status = res.StatusCode
	switch {
	case a.Status == http.StatusTooManyRequests:
		sec, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		time.Sleep(time.Duration(sec) * time.Second)
	case a.Error == "token_expired":
		token = ""
	default:
		return a
	}
	return call(method, path, idempotencyKey, body)
}

// open opens a door once. After a 504 the same key tells what came of it; after a 409
// only a new key tries again.
func open(door, reason string) string {
	body := map[string]any{"capability": "door", "command": "open", "args": map[string]string{"reason": reason}}
	for attempt := 0; ; attempt++ {
		once := rand.Text()
		a := call("POST", "/device/v1/devices/"+door+"/commands", once, body)
		if a.Status == http.StatusGatewayTimeout {
			a = call("POST", "/device/v1/devices/"+door+"/commands", once, body)
		}
		switch {
		case a.Status == http.StatusOK:
			return "opened"
		case a.Status != http.StatusConflict || attempt > 0:
			return a.Error
		}
		time.Sleep(time.Second)
	}
}

func read(a answer, v any) {
	if a.Status != http.StatusOK {
		log.Fatalf("%d %s: %s", a.Status, a.Error, a.Message)
	}
	if err := json.Unmarshal(a.Data, v); err != nil {
		log.Fatal(err)
	}
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: go run ./examples/go BASE KEY [REASON...]")
	}
	base, key = os.Args[1], os.Args[2]
	now := time.Now()
	var permit struct{ URL string }
	read(call("POST", "/space/v1/partner/entry-permits", "", map[string]any{"externalRef": "order-1", "phone": "01012345678", "name": "Kim",
		"startsAt": now.Format(time.RFC3339), "endsAt": now.Add(24 * time.Hour).Format(time.RFC3339)}), &permit)
	fmt.Println("link", permit.URL)
	var doors []struct{ ID string }
	read(call("GET", "/device/v1/devices", "", nil), &doors)
	reasons := os.Args[3:]
	if len(reasons) == 0 {
		reasons = []string{"front desk"}
	}
	for _, reason := range reasons {
		fmt.Println("door", open(doors[0].ID, reason))
	}
}
