package golive

import (
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
)

// Figures are the numbers of what was seen; which of them are set depends on the finding.
type Figures struct {
	Count    int     `json:"count,omitempty"`    // commands, exchanges or repeats
	Uses     int     `json:"uses,omitempty"`     // requests that a token served
	AfterSec float64 `json:"afterSec,omitempty"` // how much later the second request came
	WaitSec  float64 `json:"waitSec,omitempty"`  // how long the answer said to wait
	Status   int     `json:"status,omitempty"`
	Code     string  `json:"code,omitempty"`
}

// sentence says in both languages what was seen, or how to show it.
type sentence struct{ en, ko string }

// sentences by finding. In braces stand the figures.
var sentences = map[string]sentence{
	"token_replaced": {"The API key was exchanged {count} times within 15 minutes while the previous token was still valid; the last one had served {uses} when the next was requested after {after}.",
		"앞의 토큰이 아직 유효한데도 15분 안에 API 키를 {count}번 교환했습니다. 마지막 토큰은 요청 {uses}건에 쓰였고 {after} 만에 다음 토큰을 요청했습니다."},
	"token_renewed": {"A token served {uses} and was renewed after {after}.", "토큰 하나를 요청 {uses}건에 쓰고 {after} 뒤에 갱신했습니다."},
	"key_missing":   {"A door command was sent without a valid Idempotency-Key.", "유효한 Idempotency-Key 없이 문 명령을 보냈습니다."},
	"key_of_two":    {"One Idempotency-Key was used for two different requests.", "서로 다른 두 요청에 같은 Idempotency-Key를 썼습니다."},
	"key_taken":     {"The Idempotency-Key had been used for another request.", "이미 다른 요청에 쓴 Idempotency-Key를 보냈습니다."},
	"key_constant": {"The idempotency key of a finished command was sent again after {after}: the door didn't move, the stored answer came back.",
		"끝난 명령의 Idempotency-Key를 {after} 뒤에 다시 보냈습니다. 문은 움직이지 않고 저장된 응답이 돌아왔습니다."},
	"keys_own":  {"{count} commands, each with an idempotency key of its own.", "명령 {count}건의 Idempotency-Key가 모두 다릅니다."},
	"504_same":  {"A command without a response was repeated with its idempotency key.", "응답이 없던 명령을 같은 Idempotency-Key로 다시 보냈습니다."},
	"504_other": {"A command without a response was followed by one with another idempotency key for the same door: if the first one moved the door, the door has moved twice.", "응답이 없던 명령 뒤에 같은 문으로 다른 Idempotency-Key의 명령을 보냈습니다. 첫 명령이 문을 움직였다면 문이 두 번 움직였습니다."},
	"409_same":  {"After 409 device_offline the same idempotency key was sent again, which only brings back the same answer.", "409 device_offline 뒤에 같은 Idempotency-Key를 다시 보냈습니다. 저장된 결과만 다시 받게 됩니다."},
	"409_new":   {"After 409 device_offline the next command for the door had a new idempotency key.", "409 device_offline 뒤 같은 문의 다음 명령에 새 Idempotency-Key를 썼습니다."},
	"429_early": {"The answer said to wait {wait}, but the next try came after only {after}.", "응답은 {wait} 기다리라고 했는데 {after} 만에 다시 시도했습니다."},
	"429_waited": {"The answer said to wait {wait}, and the next try came after {after}.",
		"응답이 {wait} 기다리라고 했고, {after} 뒤에 다시 시도했습니다."},
	"doors_empty":   {"The array doorIds was empty.", "doorIds에 빈 배열을 보냈습니다."},
	"doors_chosen":  {"Permits are registered with doors, or for all entry doors.", "문을 지정하거나 모든 출입문에 대해 허가를 등록했습니다."},
	"get":           {"GET was sent to a path that changes something.", "변경하는 경로에 GET을 보냈습니다."},
	"post":          {"Doors are opened by POST.", "POST로 문을 열었습니다."},
	"error_again":   {"The same request was answered with {status} {code} {count} times within a minute.", "같은 요청이 1분 안에 {count}번 {status} {code} 응답을 받았습니다."},
	"error_handled": {"After {status} {code} the client didn't repeat the request.", "{status} {code} 뒤에 같은 요청을 되풀이하지 않았습니다."},

	"so_far_exchanged": {"Exchanges so far: {count}; the token used most served {uses}.", "지금까지 API 키를 {count}번 교환했고, 가장 많이 쓴 토큰은 요청 {uses}건에 쓰였습니다."},
	"so_far_keys":      {"Commands with an idempotency key of their own so far: {count}.", "지금까지 고유한 Idempotency-Key로 보낸 명령은 {count}건입니다."},
	"so_far_504":       {"Commands answered with 504 so far: {count}, none of them repeated.", "지금까지 504를 받은 명령이 {count}건 있지만, 다시 보낸 것이 없습니다."},
	"so_far_409":       {"Commands answered with 409 device_offline so far: {count}, none of them tried again.", "지금까지 409 device_offline을 받은 명령이 {count}건 있지만, 다시 시도한 것이 없습니다."},
	"so_far_429":       {"Requests answered with 429 so far: {count}, none of them tried again.", "지금까지 429를 받은 요청이 {count}건 있지만, 다시 시도한 것이 없습니다."},
	"so_far_permits":   {"Permits that were refused so far: {count}.", "지금까지 거부된 허가 등록이 {count}건 있습니다."},
	"so_far_commands":  {"Door commands so far: {count}, none of them answered with 200.", "지금까지 보낸 문 명령 {count}건 가운데 200을 받은 것이 없습니다."},
	"so_far_errors":    {"Errors so far: {count}, none of them followed by another request that succeeded.", "지금까지 오류가 {count}건 있었고, 그 뒤에 성공한 다른 요청이 없습니다."},
}

// hows tell by point how to show it.
var hows = map[string]sentence{
	"token_reuse": {"Use one token for several calls, and exchange the API key again in its last minute or after 401 token_expired (a virtual clock can jump 15 minutes).",
		"토큰 하나로 여러 번 호출하고, 마지막 1분이나 401 token_expired 뒤에 API 키를 다시 교환해 보세요. 가상 시계는 15분을 건너뛸 수 있습니다."},
	"unique_keys": {"Send 3 door commands, each with a new idempotency key such as a UUID.", "문 명령을 3번, 매번 UUID 같은 새 Idempotency-Key로 보내 보세요."},
	"same_key_after_504": {"Open a door with args.reason sim:noResponse, and let your client retry with the same idempotency key.",
		"args.reason을 sim:noResponse로 보내 문을 열고, 클라이언트가 같은 Idempotency-Key로 재시도하는지 보세요."},
	"new_key_after_409": {"Open a door with args.reason sim:offline, and let your client try again later with a new idempotency key.",
		"args.reason을 sim:offline으로 보내 문을 열고, 나중에 새 Idempotency-Key로 다시 시도하는지 보세요."},
	"back_off": {"Use up the 30 exchanges per minute with made-up API keys, then start your client: its exchange is answered with 429, and it must wait.",
		"없는 API 키로 분당 30번의 교환 한도를 다 쓴 뒤 클라이언트를 시작해 보세요. 교환에 429를 받으면 기다려야 합니다."},
	"door_ids": {"Register a permit with the ids of the doors it opens, or without doorIds for all entry doors.",
		"열 문의 ID를 넣거나, doorIds를 빼서 모든 출입문에 대한 허가를 등록해 보세요."},
	"methods": {"Open a door with POST.", "POST로 문을 열어 보세요."},
	"errors": {"Let your client run into an error (an unknown door, an expired token), and make sure that it changes something before it tries again.",
		"없는 문이나 만료된 토큰 같은 오류를 만나게 하고, 무언가를 바꾼 뒤 다시 시도하는지 보세요."},
}

// Korean is what Says says, for readers of Korean.
func (p Point) Korean() string {
	return p.Figures.in(p.sentence().ko, strconv.Itoa(p.Figures.Uses), strings.NewReplacer(" ms", "밀리초", " h", "시간", " m", "분", " s", "초"))
}

// english is Says.
func (p Point) english() string {
	return p.Figures.in(p.sentence().en, amount.Many(p.Figures.Uses, "request"), strings.NewReplacer())
}

func (p Point) sentence() sentence {
	if p.State != Unseen {
		return sentences[p.Finding]
	}
	how, seen := hows[p.ID], sentences[p.Finding]
	return sentence{strings.TrimSpace(seen.en + " " + how.en), strings.TrimSpace(seen.ko + " " + how.ko)}
}

// in puts the figures into a sentence; durations are written as units says.
func (f Figures) in(text, uses string, units *strings.Replacer) string {
	return strings.NewReplacer("{count}", amount.Number(float64(f.Count)), "{uses}", uses,
		"{after}", units.Replace(span(f.AfterSec)), "{wait}", units.Replace(span(f.WaitSec)),
		"{status}", strconv.Itoa(f.Status), "{code}", f.Code).Replace(text)
}
