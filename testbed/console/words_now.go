package console

// nowWords are the texts of the start page.
var nowWords = map[string]pair{
	"now.title":     {"Now", "현재"},
	"now.online":    {"%d of %d boards online", "보드 %[2]d개 중 %[1]d개 온라인"},
	"clock.title":   {"Clock", "시계"},
	"clock.ready":   {"running", "진행 중"},
	"clock.frozen":  {"frozen", "정지됨"},
	"clock.jumping": {"jumping", "이동 중"},
	"clock.real":    {"real time; start with --clock virtual to move it", "실제 시간입니다. 시간을 옮기려면 --clock virtual로 시작하세요"},
	"clock.freeze":  {"Freeze", "정지"},
	"clock.run":     {"Run", "진행"},
	"clock.to":      {"To a time (UTC)", "지정 시각 (UTC)"},
	"clock.go":      {"Go", "이동"},
	"clock.said":    {"It is %s now.", "현재 시각은 %s입니다."},
}
