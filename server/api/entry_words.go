package api

import (
	"cmp"
	"net/http"

	"github.com/doorlab/doorlab/internal/lang"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
)

// words are the sentences of the entry pages in one language.
type words struct {
	Choose, Open, Opening, Opened, Failed, Again string
	Unshown                                      string // heading when there are no doors to show
	QR, Secret                                   string
	Pending, Expired                             string
	Starts                                       string // the layout of a sentence that says when
	Dead, Renew                                  string // a link that doesn't work, and what helps
	Denied, Offline, Refused                     string
	Often, NoDoor, Trouble                       string
	Unanswered, Silent, Unclear                  string // the door may have opened: heading, sentences
}

var english = words{
	Choose: "Which door?", Open: "Open", Opening: "Opening…", Opened: "The door opened.", Failed: "Not opened", Unshown: "No doors to show", Again: "Back to the doors", QR: "Entry link as a QR code",
	Secret:  "This link opens the door for anyone who has it. Do not share it.",
	Pending: "This permit has not started yet.", Expired: "This permit has ended.",
	Starts: "It starts on 2 January 2006 at 15:04 (store time).",
	Dead:   "This link doesn't work", Renew: "Ask the store for a new link.", Denied: "You may not open this door now.",
	Offline: "The store cannot be reached at the moment. The door was not opened. Please try again.",
	Refused: "The door refused to open. Please try again.",
	Often:   "Too many attempts. Please wait a minute.", NoDoor: "Door not found.", Trouble: "Something went wrong. Please try again.",
	Unanswered: "No answer", Silent: "The door did not answer. It may have opened.", Unclear: "Something went wrong. The door may have opened.",
}

var korean = words{
	Choose: "어느 문을 여시겠어요?", Open: "열기", Opening: "여는 중…", Opened: "문이 열렸습니다.", Failed: "열지 못했습니다", Unshown: "표시할 문이 없습니다", Again: "문 목록으로", QR: "출입 링크 QR 코드",
	Secret:  "이 링크를 가진 사람은 누구나 문을 열 수 있습니다. 공유하지 마세요.",
	Pending: "아직 이용 시작 전입니다.", Expired: "이용 기간이 끝났습니다.",
	Starts: "2006년 1월 2일 15:04(매장 현지 시각)부터 이용하실 수 있습니다.",
	Dead:   "사용할 수 없는 링크입니다", Renew: "매장에 새 링크를 요청해 주세요.", Denied: "지금은 이 문을 열 수 없습니다.",
	Offline: "매장과 연결되지 않아 문을 열지 못했습니다. 다시 시도해 주세요.",
	Refused: "문이 열기를 거부했습니다. 다시 시도해 주세요.",
	Often:   "시도가 너무 많습니다. 1분 뒤에 다시 시도해 주세요.", NoDoor: "없는 문입니다.", Trouble: "문제가 발생했습니다. 다시 시도해 주세요.",
	Unanswered: "응답 없음", Silent: "문이 응답하지 않았습니다. 열렸을 수도 있습니다.", Unclear: "문제가 발생했습니다. 문이 열렸을 수도 있습니다.",
}

// speak picks the language the caller prefers: Korean or English.
func speak(r *http.Request) (string, words) {
	name := lang.Of(r.Header.Get("Accept-Language"))
	return name, map[string]words{lang.English: english, lang.Korean: korean}[name]
}

// state says when a link's doors will open, or that they no longer do; "" while they do.
func (w words) state(v entry.LinkView) string {
	switch v.State {
	case "pending":
		return w.Pending + " " + v.StartsAt.Format(w.Starts)
	case "expired":
		return w.Expired
	}
	return ""
}

// failed is the heading and the sentence for a press that failed.
func (w words) failed(e *fail.Error) (heading, sentence string) {
	switch e.Code {
	case fail.LinkInvalid:
		return w.Dead, w.Renew
	case fail.DeviceNoResponse: // whether it opened is unknown
		return w.Unanswered, w.Silent
	case fail.StorageUnavailable, fail.InternalError: // perhaps once the command was on its way
		return w.Unanswered, w.Unclear
	}
	return w.Failed, w.failure(e)
}

func (w words) failure(e *fail.Error) string {
	of := map[string]string{
		fail.LinkInvalid: w.Renew, fail.EntryDenied: w.Denied, fail.StoreOffline: w.Offline,
		fail.DeviceRefused: w.Refused, fail.RateLimited: w.Often, fail.DeviceNotFound: w.NoDoor,
	}
	return cmp.Or(of[e.Code], w.Trouble)
}
