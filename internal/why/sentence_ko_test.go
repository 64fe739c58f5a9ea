package why

import (
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/vocab"
)

// TestKorean: every decision and every unknown is explained in Korean, with different words for each reason, and no
// English is left except names and ids.
func TestKorean(t *testing.T) {
	t.Parallel()
	kind, id, age, since := "membership", "mbr_1", 7500.0, "2026-11-01T00:00:00.000Z"
	window := &Window{Ref: "Always", Mode: "closed"}
	board := Side{Known: true, Allow: true, Kind: &kind, GrantID: &id}
	seen := map[string]vocab.Reason{}
	word := regexp.MustCompile(`[a-z]{3,}`)
	for _, reason := range []vocab.Reason{vocab.OutageLimit, vocab.LinkInvalid, vocab.ClosedWindow, vocab.DoorOutOfScope, vocab.NotStarted, vocab.Expired, vocab.Revoked, vocab.NoValidGrant} {
		a := Answer{Server: Side{Known: true, Reason: reason, Window: window, Grants: []Grant{{Kind: kind, GrantID: id}}}, Board: board,
			Copy: Copy{BoardID: "B1", OutageAgeSec: &age, MissingSince: &since, BehindSec: 90, Revision: 3, ServerRevision: 5}}
		text := a.Korean()
		if before, told := seen[text]; told {
			t.Errorf("%s reads the same as %s, want different sentences: %s", reason, before, text)
		}
		seen[text] = reason
		for _, want := range []string{"문을 열지 않습니다", "유효한 회원권(mbr_1)이 있어 문을 엽니다", "2시간 5분째 오프라인", "리비전 3, 서버는 5", "최근 1분"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", reason, want, text)
			}
		}
		if left := word.FindAllString(strings.ReplaceAll(text, id, ""), -1); len(left) > 0 && strings.Join(left, "") != "lways" {
			t.Errorf("%s: English words are left: %q in %s", reason, left, text)
		}
	}
	if text, want := (Answer{}).Sentence(), "It isn't known what the server would have decided about a call or link, because the recording starts after that time; ask about a later one. "; !strings.HasPrefix(text, want) {
		t.Errorf("before the recording: got %q, want it to begin with %q", text, want)
	}
	for name, a := range map[string]Answer{"기록이 그 뒤에": {}, "실제 보드": {Server: Side{Known: true}, Copy: Copy{Real: true}},
		"보드에서 온 것이": {Server: Side{Known: true}}, "전부터 오프라인": {Server: Side{Known: true}, Copy: Copy{Seen: true}},
		"기록보다 오래": {Server: Side{Known: true}, Copy: Copy{Seen: true, OutageAgeSec: &age}}} {
		if text := a.Korean(); !strings.Contains(text, name) {
			t.Errorf("the name %q is missing in %s", name, text)
		}
	}
}
