package console

import "github.com/doorlab/doorlab/internal/lang"

// wrong is what a person filled in badly, or can't do, as a text of ours. What the control API refuses stays in its words.
type wrong Said

// Error is the text in English.
func (w wrong) Error() string { return Said(w).in(lang.English) }

// badly makes a wrong of a text's key.
func badly(key string, args ...any) error { return wrong{Key: key, Args: args} }

var wrongWords = map[string]pair{
	"wrong.form":      {"This page has no such form. Reload it and try again.", "이 페이지에 없는 양식입니다. 페이지를 새로 고친 뒤 다시 시도해 주세요."},
	"wrong.mark":      {"A name has up to 30 letters, digits and underscores, and begins with a letter: cut, delivery_2.", "이름은 글자로 시작하고 글자, 숫자, 밑줄로 30자까지 쓸 수 있습니다. 예: cut, delivery_2."},
	"wrong.moment":    {"%q is neither a time, such as 2026-12-01 09:00, nor a moment that you have named, such as cut or cut+36h.", "%q: 시각(예: 2026-12-01 09:00)도, 이름 붙인 시점(예: cut, cut+36h)도 아닙니다."},
	"wrong.past":      {"%s is in the past, and the clock only moves forward.", "%s: 이미 지난 시각입니다. 시계는 앞으로만 움직입니다."},
	"wrong.door":      {"This door isn't one of the board's. Reload the page.", "이 보드의 문이 아닙니다. 페이지를 새로 고쳐 주세요."},
	"wrong.minutes":   {"A hold lasts 1 to 1,440 minutes; leave the field empty to hold the door until it is closed.", "열림 유지는 1~1,440분입니다. 비워 두면 닫을 때까지 유지합니다."},
	"wrong.reconnect": {"No fault cuts only this board. Look at the armed faults.", "이 보드만 끊은 장애가 없습니다. 걸린 장애를 확인해 주세요."},
	"wrong.delay":     {"The delay must be a whole number of milliseconds.", "지연은 밀리초 단위의 정수여야 합니다."},
	"wrong.other":     {"The field %s is filled in, but %s is chosen. Empty it, or choose it.", "%[2]s을(를) 선택했는데 %[1]s 칸이 채워져 있습니다. 칸을 비우거나 그 항목을 선택해 주세요."},
	"wrong.share":     {"The share must be more than 0 and at most 100 percent.", "비율은 0보다 크고 100 이하인 퍼센트여야 합니다."},
	"wrong.param":     {"%s must be a number.", "%s: 숫자여야 합니다."},
	"wrong.nth":       {"n must be a whole number, 1 or more.", "n은 1 이상의 정수여야 합니다."},
	"wrong.person":    {"Give a phone number, an entry link, or the link's token.", "전화번호, 출입 링크 또는 링크의 토큰을 입력해 주세요."},
	"wrong.caller":    {"A link can't call: give a phone number.", "링크로는 전화할 수 없습니다. 전화번호를 입력해 주세요."},
	"wrong.presser":   {"A phone number has no button: give an entry link or its token.", "전화번호에는 누를 버튼이 없습니다. 출입 링크나 토큰을 입력해 주세요."},
	"wrong.number":    {"This place has no entry number. 'doorlab place set' assigns one.", "이 매장에는 출입 전화번호가 없습니다. 'doorlab place set'으로 지정할 수 있습니다."},
	"wrong.key":       {"This place has no working key to open doors with. 'doorlab keys create' makes one.", "이 매장에는 문을 열 수 있는 키가 없습니다. 'doorlab keys create'로 만들 수 있습니다."},
}
