package access

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// Without the place's key, a phone can't be found from its hash by trying numbers. Each place of each server has its
// own key.
func TestPhoneHashIsKeyed(t *testing.T) {
	t.Parallel()
	const phone = "01012345678"
	mine := NewPhoneKey([]byte("secret"), "plc_a")
	hash := mine.Hash(phone)
	if len(hash) != 32 || hash != NewPhoneKey([]byte("secret"), "plc_a").Hash(phone) {
		t.Errorf("hash %q, want 32 digits, the same each time", hash)
	}
	for name, other := range map[string]string{
		"another place's key":  NewPhoneKey([]byte("secret"), "plc_b").Hash(phone),
		"another server's key": NewPhoneKey([]byte("other"), "plc_a").Hash(phone),
		"another number":       mine.Hash("01012345679"),
		"no key":               PhoneKey("").Hash(phone),
		"a key that isn't hex": PhoneKey("zz").Hash(phone),
	} {
		if other == hash {
			t.Errorf("%s: got the same hash, want a different one", name)
		}
	}
	for _, text := range []string{phone, "phone\n" + phone, "phone\nplc_a\n" + phone} {
		if h := sha256.Sum256([]byte(text)); strings.HasPrefix(hex.EncodeToString(h[:]), hash) {
			t.Errorf("the hash is just the SHA-256 of %q, want a keyed one", text)
		}
	}
	if PhoneKey("").Hash(phone) != "" {
		t.Error("without a key there must be no hash")
	}
}
