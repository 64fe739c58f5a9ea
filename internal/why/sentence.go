package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Sentence puts the answer into words: both sides, and the age of the copy.
func (a Answer) Sentence() string {
	var b strings.Builder
	if a.Server.Known {
		does, _ := a.Server.does()
		b.WriteString("For a call or a link the server decides, and it " + does + ". ")
	} else {
		b.WriteString("It isn't known what the server would have decided about a call or link, because the recording starts after that time; ask about a later one. ")
	}
	if !a.Board.Known {
		why, _ := a.unknown()
		b.WriteString("It isn't known what board " + a.Copy.BoardID + " decides on site: " + why + ".")
		return b.String()
	}
	does, _ := a.Board.does()
	copied, _ := a.copied()
	b.WriteString("On site, board " + a.Copy.BoardID + " " + does + copied + ".")
	return b.String()
}

// copied is how old the board's copy was, if that matters.
func (a Answer) copied() (en, ko string) {
	c := a.Copy
	var parts []string
	if !c.Online && c.OutageAgeSec != nil && *c.OutageAgeSec >= 0 {
		parts = append(parts, "it has been offline for "+english.of(*c.OutageAgeSec))
		ko += " 보드는 " + korean.of(*c.OutageAgeSec) + "째 오프라인입니다."
	}
	if c.MissingSince != nil {
		parts = append(parts, fmt.Sprintf("its copy (revision %d of %d) lacks changes from the last %s", c.Revision, c.ServerRevision, english.of(c.BehindSec)))
		ko += fmt.Sprintf(" 보드의 사본(리비전 %d, 서버는 %d)에는 최근 %s 동안의 변경이 없습니다.", c.Revision, c.ServerRevision, korean.of(c.BehindSec))
	}
	if len(parts) > 0 {
		en = "; " + strings.Join(parts, ", and ")
	}
	return en, ko
}

// does is what a known side decides and on what basis, in English and in Korean, to follow its name.
func (s Side) does() (en, ko string) {
	switch {
	case s.Allow && s.Reason == vocab.FreeWindow:
		return "opens the door for everybody: window " + s.Window.Ref + " is free", "자유 출입 시간대(" + s.Window.Ref + ")라서 누구에게나 문을 엽니다"
	case s.Allow:
		return fmt.Sprintf("opens the door: %s %s is valid", *s.Kind, *s.GrantID),
			"유효한 " + grantKo(*s.Kind, *s.GrantID) + " 있어 문을 엽니다"
	}
	en, ko = s.denied()
	return "doesn't open the door: " + en, ko + " 문을 열지 않습니다"
}

func (s Side) denied() (en, ko string) {
	nearest, grant := "", "출입 권한이"
	if len(s.Grants) > 0 {
		g := s.Grants[0]
		nearest, grant = fmt.Sprintf(" (%s %s)", g.Kind, g.GrantID), grantKo(g.Kind, g.GrantID)
	}
	switch s.Reason {
	case vocab.OutageLimit:
		return "after more than 36 h without the server, or once its clock is lost, a board decides nothing until it is synchronized",
			"서버와 36시간 넘게 끊겼거나 시계를 잃은 보드는 동기화될 때까지 아무도 들이지 않으므로"
	case vocab.LinkInvalid:
		switch {
		case s.LinkOf == nil:
			return "the link is unknown", "모르는 링크라서"
		case s.link == linkEarly:
			return "it doesn't know the link of permit " + *s.LinkOf + " yet", "출입 허가 " + *s.LinkOf + "의 링크를 아직 몰라서"
		case s.link == linkLeft:
			return "it no longer has permit " + *s.LinkOf + ", which ended long ago", "출입 허가 " + *s.LinkOf + "의 기간이 끝난 지 오래되어 남아 있지 않아"
		}
		return "the link of permit " + *s.LinkOf + " was revoked", "출입 허가 " + *s.LinkOf + "의 링크가 철회되어"
	case vocab.ClosedWindow:
		return "window " + s.Window.Ref + " is closed", "출입이 닫힌 시간대(" + s.Window.Ref + ")라서"
	case vocab.DoorOutOfScope:
		return "the grant is valid, but not for this door" + nearest, grant + " 유효하지만 이 문은 대상이 아니어서"
	case vocab.NotStarted:
		return "the grant hasn't started" + nearest, grant + " 아직 시작되지 않아"
	case vocab.Expired:
		return "the grant has ended" + nearest, grant + " 끝나서"
	case vocab.Revoked:
		return "the grant is revoked" + nearest, grant + " 철회되어"
	}
	return "this person has no grant here", "여기에 출입 권한이 없는 사람이라서"
}

// unknown is why the board's side is unknown.
func (a Answer) unknown() (en, ko string) {
	switch {
	case !a.Server.Known:
		return "the recording starts after that time", "기록이 그 뒤에 시작되었습니다"
	case a.Copy.Real:
		return "a real board is in its place, and that board's copy isn't recorded", "실제 보드가 연결되어 있어 그 사본이 기록되지 않습니다"
	case !a.Copy.Seen:
		return "the server hasn't heard from the board since the recording began", "기록이 시작된 뒤로 보드에서 온 것이 없습니다"
	case a.Copy.OutageAgeSec == nil:
		return "it was offline before the recording began", "기록이 시작되기 전부터 오프라인이었습니다"
	}
	return "its copy is older than the recording", "보드의 사본이 기록보다 오래되었습니다"
}

// spans are the forms in which a language writes durations for people.
type spans struct{ ms, sec, min, hour, hourMin string }

var (
	english = spans{"%d ms", "%d s", "%d m", "%d h", "%d h %d m"}
	korean  = spans{"%d밀리초", "%d초", "%d분", "%d시간", "%d시간 %d분"}
)

func (f spans) of(sec float64) string {
	d := time.Duration(sec * float64(time.Second))
	switch {
	case d < time.Second:
		return fmt.Sprintf(f.ms, d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf(f.sec, int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf(f.min, int(d.Minutes()))
	}
	if m := int(d.Minutes()) % 60; m != 0 {
		return fmt.Sprintf(f.hourMin, int(d.Hours()), m)
	}
	return fmt.Sprintf(f.hour, int(d.Hours()))
}

// Korean is Sentence for readers of Korean.
func (a Answer) Korean() string {
	var b strings.Builder
	does := "기록이 그 뒤에 시작되어 결과를 알 수 없습니다"
	if a.Server.Known {
		_, does = a.Server.does()
	}
	b.WriteString("전화나 링크로 오면 서버가 판단하며, " + does + ". ")
	if !a.Board.Known {
		_, why := a.unknown()
		b.WriteString("현장에서 보드(" + a.Copy.BoardID + ")가 어떻게 판단할지는 알 수 없습니다. " + why + ".")
		return b.String()
	}
	_, does = a.Board.does()
	_, copied := a.copied()
	b.WriteString("현장에서는 보드(" + a.Copy.BoardID + ")가 판단하며, " + does + "." + copied)
	return b.String()
}

// grantKo is a grant as the subject of a sentence.
func grantKo(kind, id string) string {
	switch kind {
	case "reservation":
		return "예약(" + id + ")이"
	case "membership":
		return "회원권(" + id + ")이"
	}
	return "출입 허가(" + id + ")가"
}
