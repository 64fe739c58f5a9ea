package console

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/lang"
	"github.com/doorlab/doorlab/internal/why"
)

// What other packages explain in English.

// faultKo is a fault's explanation in Korean.
type faultKo struct{ does, caller, journal string }

var faultsKorean = map[string]faultKo{
	"silent":       {"보드가 움직이지도 보고하지도 않습니다.", "504 `noResponse`", "기록 없음"},
	"refuse":       {"보드가 움직이지 않고 거부를 알립니다. 여러 개면 먼저 건 것이 적용됩니다.", "502 `refused`와 `deviceCode`", "`refuse`"},
	"slow":         {"보드가 움직이기 전에 기다립니다. 여러 개면 시간이 더해집니다. `notAfter`(5초)를 넘기면 `expired`로 거부합니다.", "늦은 200, 502 `refused`(`expired`) 또는 504 `noResponse`", "늦은 `pulse`, `hold`, `lock` 또는 `refuse`"},
	"silent-after": {"보드가 움직이지만 보고하지 않습니다. 거부는 그대로 보고합니다.", "504 `noResponse`", "`pulse`, `hold` 또는 `lock`"},
	"garbage":      {"보고 대신 임의의 24바이트를 보냅니다. 보고를 바꾸는 장애는 한 번에 하나만 적용되며 `garbage`, `wrong-id`, `stale` 순입니다.", "504 `noResponse`", "`pulse`, `hold` 또는 `lock`"},
	"wrong-id":     {"보낸 적 없는 명령의 보고를 보냅니다.", "504 `noResponse`", "`pulse`, `hold` 또는 `lock`"},
	"stale":        {"보고에 이전 연결의 에포크가 실립니다. 보고는 명령 ID로 맞추므로 유효합니다.", "200 `reported`", "`pulse`, `hold` 또는 `lock`"},
	"late":         {"보드가 바로 움직이고, 보고는 기다렸다가 보냅니다. 기본값은 서버가 기다리는 시간보다 깁니다. 여러 개면 시간이 더해집니다.", "504 `noResponse`, 보고가 도착하면 기록이 확정됩니다", "`pulse`, `hold` 또는 `lock`"},
	"duplicate":    {"보고를 두 번 보냅니다.", "200 `reported`, 한 번", "한 줄"},
	"reorder":      {"보드의 다음 보고보다 늦게, 또는 2초 뒤에 보고합니다.", "200 `reported`", "`pulse`, `hold` 또는 `lock`"},
	"noop":         {"아무것도 하지 않고, 해당하는 명령의 수만 셉니다.", "변화 없음", "변화 없음"},
	"offline":      {"회선이 깨끗하게 끊깁니다. 양쪽 모두 바로 알아차리고, 장애가 걸려 있는 동안 보드는 다시 연결하지 않습니다.", "409 `device_offline`", "기록 없음, `graceSec`가 지나면 단절 시 동작(원인 `outage`)"},
	"halfopen":     {"어느 쪽으로도 전달되지 않는데 양쪽 모두 알림을 받지 못합니다. 킵얼라이브가 끝나야 알아차립니다.", "504 `noResponse`, 그 뒤 409 `device_offline`", "기록 없음, `graceSec`가 지나면 단절 시 동작"},
	"oneway-up":    {"보드가 보내는 것이 사라집니다.", "504 `noResponse`, 그 뒤 409 `device_offline`", "보드가 알아차릴 때까지 `pulse`, `hold` 또는 `lock`"},
	"oneway-down":  {"서버가 보내는 것이 사라집니다.", "504 `noResponse`, 그 뒤 409 `device_offline`", "기록 없음, `graceSec`가 지나면 단절 시 동작"},
	"lossy":        {"양방향의 메시지가 사라지거나 반복되거나 늦어집니다. 여러 개면 회선을 이어 놓은 것처럼 겹칩니다.", "200 `reported` 또는 504 `noResponse`", "도착한 명령마다 한 줄"},
	"flap":         {"회선이 가상 시간을 기준으로 끊어졌다 이어지기를 반복합니다. 보드들이 한꺼번에 움직이지 않도록 첫 주기는 시드에 따라 짧아집니다.", "200 `reported` 또는 409 `device_offline`", "회선이 끊긴 동안 `offline`과 같음"},
	"skew":         {"보드의 시계가 `seconds`만큼 어긋나고 `ppm`만큼 점점 벌어집니다. 여러 개면 더해집니다. 단절 시간은 정확히 잽니다. 한 시간 넘게 앞서거나 30일 넘게 늦은 기록은 서버가 버립니다.", "변화 없음", "현장에서는 허가와 시간대가 어긋난 시계를 따라 시작하고 끝남"},
	"reboot":       {"보드가 메모리의 내용을 잃고 플래시에 저장된 상태로 다시 시작합니다.", "진행 중이던 명령은 504 `noResponse`", "`boot`가 1 늘어나고 열림 유지는 계속됨"},
	"reboot-wiped": {"보드가 빈 플래시로 다시 시작합니다.", "진행 중이던 명령은 504 `noResponse`", "`boot`가 1 늘어나고, 동기화될 때까지 현장 출입은 거부됨"},
	"no-clock":     {"보드가 시계를 잃고 다시 시작합니다. 서버와 통신할 때까지 36시간 넘게 끊긴 것으로 봅니다.", "진행 중이던 명령은 504 `noResponse`", "바로 단절 시 동작(원인 `outage`)"},
}

var paramsKorean = map[string]string{
	"code": "거부 코드", "p50Ms": "지연의 중앙값, 실제 시간", "p99Ms": "지연의 99번째 백분위수, 이 값의 두 배를 넘지 않음",
	"percent": "사라지는 메시지", "duplicatePercent": "두 번 전달되는 메시지", "delayMs": "방향마다 패킷에 더해지는 지연, 실제 시간",
	"upSec": "회선이 이어져 있는 시간", "downSec": "끊겨 있는 시간", "seconds": "어긋난 정도", "ppm": "건 때부터 벌어지는 속도",
}

// Fault is a fault with its explanation in the reader's language.
func (l *Look) Fault(f faults.Fault) faults.Fault {
	if l.Lang == lang.Korean {
		ko := faultsKorean[f.Name]
		f.Does, f.Outcome, f.Journal = ko.does, ko.caller, ko.journal
	}
	return f
}

// Point is what was seen of a point of the checklist, or how to show it.
func (l *Look) Point(p point) string {
	if l.Lang == lang.Korean {
		return p.Korean()
	}
	return p.Says
}

// Why is why somebody gets in or doesn't.
func (l *Look) Why(x *why.Explanation) string {
	if l.Lang == lang.Korean {
		return x.Korean()
	}
	return x.Says
}

// spanUnits are the units that span writes, beside a number. Milliseconds stay as they are.
var (
	aSpan     = regexp.MustCompile(`^[0-9.]+ [dhms]( [0-9]+ [hms])?$`)
	spanUnits = strings.NewReplacer(" d", "일", " h", "시간", " m", "분", " s", "초")
)

// koreanSpan puts a duration in a sentence into Korean; anything else stays unchanged.
func koreanSpan(arg any) any {
	if text, ok := arg.(string); ok && aSpan.MatchString(text) {
		return spanUnits.Replace(text)
	}
	return arg
}

// codesKorean are the words that the API, the boards and their journals use as codes.
var codesKorean = map[string]string{
	"pulse": "열림", "hold": "열림 유지", "lock": "잠금", "off": "꺼짐", "refuse": "보드가 거부", "deny": "출입 거부",
	"command": "명령", "free": "자유 출입 시간대", "hold_end": "열림 유지 종료", "outage": "단절",
	"reported": "보고됨", "ok": "정상", "opened": "열림", "held": "열림 유지", "locked": "잠김", "denied": "거부됨", "changed": "변경됨",
	"offline": "오프라인", "refused": "보드가 거부", "noResponse": "응답 없음",
	"api": "API", "link": "링크", "phone": "전화", "onsite": "현장", "server": "서버", "board": "보드",
	"no_valid_grant": "유효한 권한 없음", "not_started": "아직 시작되지 않음", "expired": "만료됨", "revoked": "철회됨", "door_out_of_scope": "범위 밖의 문",
	"closed_window": "출입 금지 시간대", "link_invalid": "유효하지 않은 링크", "outage_limit": "단절 36시간 초과", "free_window": "자유 출입 시간대",
	"permit": "출입 허가", "membership": "회원권", "reservation": "예약",
	"busy": "사용 중", "jammed": "걸림", "tamper": "강제 조작", "low_power": "전력 부족", "maintenance": "점검 중", "unsupported": "지원하지 않음",
	"early": "인사 전 또는 넘겨진 연결", "garbage": "해독 불가", "forbidden": "다른 보드의 토픽", "retained": "보관 메시지", "oversized": "64KiB 초과",
	"unknown_command": "모르는 명령", "misfit": "없는 결과나 코드", "bad_record": "보관할 수 없는 기록", "bad_credit": "맞지 않는 권한", "record_quota": "기록 한도 초과",
}

// Code is a code of the API or of a journal, in Korean as a word. In English the codes are words.
func (l *Look) Code(code any) string {
	text := fmt.Sprint(code)
	if ko := codesKorean[text]; ko != "" && l.Lang == lang.Korean {
		return ko
	}
	return text
}

// Param is what a fault's parameter takes.
func (l *Look) Param(p faults.Param) string {
	if l.Lang != lang.Korean {
		return p.Text()
	}
	p.Means = paramsKorean[p.Name]
	if len(p.Names) > 0 {
		return fmt.Sprintf("%s: %s 중 하나, 기본값 %s", p.Means, strings.Join(p.Names, ", "), p.Names[0])
	}
	whole := ""
	if p.Whole {
		whole = ", 정수"
	}
	return fmt.Sprintf("%s: %s~%s %s%s, 기본값 %s", p.Means, amount.Number(p.Min), amount.Number(p.Max), p.Unit, whole, amount.Number(p.Default))
}
