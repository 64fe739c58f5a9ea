package why

import (
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Korean is Sentence for readers of Korean.
func (a Answer) Korean() string {
	var b strings.Builder
	b.WriteString("전화나 링크로 오면 서버가 판단하며, " + a.Server.doesKo() + ". ")
	if !a.Board.Known {
		b.WriteString("현장에서 보드(" + a.Copy.BoardID + ")가 어떻게 판단할지는 알 수 없습니다. " + a.unknownKo() + ".")
		return b.String()
	}
	b.WriteString("현장에서는 보드(" + a.Copy.BoardID + ")가 판단하며, " + a.Board.doesKo() + "." + a.copiedKo())
	return b.String()
}

func (s Side) doesKo() string {
	switch {
	case !s.Known:
		return "기록이 그 뒤에 시작되어 결과를 알 수 없습니다"
	case s.Allow && s.Reason == vocab.FreeWindow:
		return "자유 출입 시간대(" + s.Window.Ref + ")라서 누구에게나 문을 엽니다"
	case s.Allow:
		return fmt.Sprintf("유효한 %s(%s)이 있어 문을 엽니다", kindKo(*s.Kind), *s.GrantID)
	}
	return s.deniedKo() + " 문을 열지 않습니다"
}

func (s Side) deniedKo() string {
	grant := "출입 권한"
	if len(s.Grants) > 0 {
		grant = fmt.Sprintf("%s(%s)", kindKo(s.Grants[0].Kind), s.Grants[0].GrantID)
	}
	switch s.Reason {
	case vocab.OutageLimit:
		return "서버와 36시간 넘게 끊겼거나 시계를 잃은 보드는 동기화될 때까지 아무도 들이지 않으므로"
	case vocab.LinkInvalid:
		if s.LinkOf != nil {
			return "출입 허가 " + *s.LinkOf + "의 링크가 철회되어"
		}
		return "모르는 링크라서"
	case vocab.ClosedWindow:
		return "출입이 닫힌 시간대(" + s.Window.Ref + ")라서"
	case vocab.DoorOutOfScope:
		return grant + "이 유효하지만 이 문은 대상이 아니어서"
	case vocab.NotStarted:
		return grant + "이 아직 시작되지 않아"
	case vocab.Expired:
		return grant + "이 끝나서"
	case vocab.Revoked:
		return grant + "이 철회되어"
	}
	return "여기에 출입 권한이 없는 사람이라서"
}

// kindKo ends in a consonant for each kind, as the particles beside it expect.
func kindKo(kind string) string {
	switch kind {
	case "reservation":
		return "예약 출입 권한"
	case "membership":
		return "회원 출입 권한"
	}
	return "허가된 출입 권한"
}

func (a Answer) copiedKo() string {
	c, out := a.Copy, ""
	if !c.Online && c.OutageAgeSec != nil && *c.OutageAgeSec >= 0 {
		out += " 보드는 " + korean.of(*c.OutageAgeSec) + "째 오프라인입니다."
	}
	if c.MissingSince != nil {
		out += fmt.Sprintf(" 보드의 사본(리비전 %d, 서버는 %d)에는 최근 %s 동안의 변경이 없습니다.", c.Revision, c.ServerRevision, korean.of(c.BehindSec))
	}
	return out
}

func (a Answer) unknownKo() string {
	switch {
	case !a.Server.Known:
		return "기록이 그 뒤에 시작되었습니다"
	case a.Copy.Real:
		return "실제 보드가 연결되어 있어 그 사본이 기록되지 않습니다"
	case !a.Copy.Seen:
		return "기록이 시작된 뒤로 보드에서 온 것이 없습니다"
	case a.Copy.OutageAgeSec == nil:
		return "기록이 시작되기 전부터 오프라인이었습니다"
	}
	return "보드의 사본이 기록보다 오래되었습니다"
}

var korean = spans{"%d밀리초", "%d초", "%d분", "%d시간", "%d시간 %d분"}
