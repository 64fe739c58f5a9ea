package console

import (
	"fmt"
	"maps"

	"github.com/doorlab/doorlab/internal/lang"
)

// words are the texts of one language by key; a text may take arguments as fmt does.
type words map[string]string

// pair is a text in both languages.
type pair struct{ en, ko string }

var languages = map[string]words{}

func init() {
	en, ko := words{}, words{}
	for _, group := range []map[string]pair{shellWords, nowWords, boardWords, faultWords, runWords, inboxWords, peopleWords, wrongWords} {
		for key, p := range group {
			en[key], ko[key] = p.en, p.ko
		}
	}
	maps.Copy(languages, map[string]words{lang.English: en, lang.Korean: ko})
}

func wordsOf(language string) words { return languages[language] }

// text is the text of a key; the key itself where there is none, which the tests find.
func (w words) text(key string, args ...any) string {
	s, ok := w[key]
	switch {
	case !ok:
		return key
	case len(args) == 0:
		return s
	}
	return fmt.Sprintf(s, args...)
}

// shellWords are the texts around every page.
var shellWords = map[string]pair{
	"nav.label":       {"Pages", "페이지"},
	"nav.now":         {"Now", "현재"},
	"nav.boards":      {"Boards", "보드"},
	"nav.inbox":       {"Inbox", "요청함"},
	"nav.people":      {"People", "사람"},
	"nav.faults":      {"Faults", "장애"},
	"nav.runs":        {"Runs", "실행"},
	"nav.calls":       {"Control API", "제어 API"},
	"nav.partners":    {"Partner API", "파트너 API"},
	"calls.title":     {"Control API", "제어 API"},
	"calls.lead":      {"Programs can do everything that this console does. Each call is under `/lab/v1` on this listener and takes `Authorization: Bearer` with the control token; `/lab/v1/openapi.json` has the same as OpenAPI.", "이 콘솔이 하는 일은 프로그램도 할 수 있습니다. 호출 경로는 이 주소의 `/lab/v1` 아래에 있고, `Authorization: Bearer`에 제어 토큰을 넣습니다. 같은 내용이 `/lab/v1/openapi.json`에 OpenAPI로 있습니다."},
	"calls.partners":  {"The partners' API is a different one, with a reference of its own:", "파트너가 쓰는 API는 따로 있으며 문서도 따로 있습니다:"},
	"calls.takes":     {"Takes", "입력"},
	"calls.answers":   {"Answers", "응답"},
	"calls.objects":   {"Objects", "객체"},
	"skip":            {"Skip to the content", "본문으로 건너뛰기"},
	"logout":          {"Sign out", "로그아웃"},
	"live.on":         {"up to date", "최신 상태"},
	"live.off":        {"not connected, trying again", "연결 끊김, 다시 시도 중"},
	"toast.close":     {"Dismiss", "닫기"},
	"live.plain":      {"reload to see what is new", "새로 고치면 최신 내용이 보입니다"},
	"login.title":     {"Sign in", "로그인"},
	"login.lead":      {"This console controls the lab. Sign in with the control token that doorlab printed when it was ready, or open the address that it printed on the terminal.", "이 콘솔은 실험실을 조작합니다. 제어 토큰은 doorlab이 준비되었을 때 출력한 줄에 있습니다. 터미널에 출력된 주소를 열어도 로그인됩니다."},
	"login.token":     {"Control token", "제어 토큰"},
	"login.button":    {"Sign in", "로그인"},
	"login.wrong":     {"That isn't this lab's control token. Copy it again from the terminal.", "이 실험실의 제어 토큰이 아닙니다. 터미널에서 다시 복사해 주세요."},
	"trouble.title":   {"This can't be shown", "표시할 수 없습니다"},
	"trouble.nowhere": {"There is no page at %s.", "%s에는 페이지가 없습니다."},
	"trouble.back":    {"Back to the start page", "처음으로"},
	"said.forbidden":  {"Refused: this form isn't from one of your pages, or you have been signed out. Reload the page and try again.", "거부되었습니다. 이 양식은 현재 페이지의 것이 아니거나 로그아웃되었습니다. 페이지를 새로 고친 뒤 다시 시도해 주세요."},
}
