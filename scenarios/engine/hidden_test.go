package engine

import (
	"strings"
	"testing"
)

// TestSecretsAreHidden: phones, keys and tokens appear in no line and no verdict, whether the run knows them or they
// only look like secrets.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	res, out := play(t, newFake(t), `
setup: [{cohort: {name: one, boards: 1}}, {permit: {person: ann, place: one}}]
steps:
  - {call: {path: /echo}, expect: data.name == "Bob", continue: true}
  - {expect: ann.name == "Bob" and ann.phone == "", continue: true}
  - {log: "call ${ann.phone} of ${ann.token} with ${phone(\"x\")}", continue: true}
  - {call: {path: /echo}, cases: [{phone: "01099998888"}], expect: data == phone, continue: true}
`, Options{Verbose: true})
	var b strings.Builder
	b.WriteString(out)
	for _, s := range res.Files[0].Steps {
		b.WriteString(s.Name + s.Detail)
		for _, c := range s.Children {
			b.WriteString(c.Name + c.Detail)
		}
	}
	for _, a := range res.Ledger {
		b.WriteString(a.Number)
	}
	text := b.String() + res.Reason + res.Files[0].Reason
	phone := (&fileRun{run: &run{seed: 1}, file: &File{Path: "one.yaml"}}).phone("ann")
	for _, secret := range []string{"01012345678", "01099998888", fakeToken, fakeKey, phone, "control-token"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is shown:\n%s", secret, text)
		}
	}
	if !strings.Contains(text, "010-****-5678") {
		t.Errorf("the masked phone 010-****-5678 is missing:\n%s", text)
	}
}

// TestIdsStay: ids aren't secret, so they aren't masked.
func TestIdsStay(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"dor_0000100w003qqxxpfbqbvv8452", "plc_0000000002372dnbhcravy8ffc", "2026-03-01T09:00:00.000Z", "cut+36h-1ms",
		"9bfc4389f0f057335572860e74d682cc", "6400 sent at 320/s", "guest:*1234", "010-****-1234"} {
		if got := lookalikes(s); got != s {
			t.Errorf("%s became %s, want it unchanged", s, got)
		}
	}
}
