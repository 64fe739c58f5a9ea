package api

import (
	"html/template"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/lang"
	"github.com/doorlab/doorlab/internal/loopback"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/fail"
)

// Example is what the pages offer to try: a key of a test place, whose boards are virtual, the place, one of its doors,
// that door's board, and the place's time.
type Example struct {
	Key, PlaceID, DoorID, BoardID string
	Now                           time.Time
}

var (
	landingCSS  = mustFile("pages/landing.css")
	landingJS   = mustFile("pages/landing.js")
	landingWith = policyFor(landingCSS, landingJS) + "; connect-src 'self'"
)

// landingView is what the start page shows.
type landingView struct {
	Lang    string
	T       landingWords
	CSS     template.CSS
	JS      template.JS
	Base    string
	Console string
	Key     string // "" = not for this reader
	DoorID  string
	Docs    []landingDoc
}

type landingDoc struct{ Name, Title, What string }

// landing is the operation behind the start page. It is in no document, because no program calls it.
var landing = &openapi.Operation{Path: "/", Method: http.MethodGet, Scope: "none", Page: true}

// serveLanding shows where everything is and how to open a door within a minute. The test place's key is shown only to
// readers on this machine.
func serveLanding(c *call) (any, error) {
	if !c.html {
		return nil, fail.New(fail.NotFound, "no such path")
	}
	name := lang.Of(c.r.Header.Get("Accept-Language"))
	v := landingView{Lang: name, T: landingIn[name], CSS: template.CSS(landingCSS), JS: template.JS(landingJS), Base: strings.TrimSuffix(c.api.cfg.LinkURL, "/")}
	for i, d := range c.api.docs {
		v.Docs = append(v.Docs, landingDoc{Name: d.Name, Title: d.Doc.Info.Title, What: v.T.Docs[i]})
	}
	if c.local() {
		v.Console = c.api.cfg.Console
		if c.api.cfg.Example != nil {
			e := c.api.cfg.Example()
			v.Key, v.DoorID = e.Key, e.DoorID
		}
	}
	a := c.show("landing.html", http.StatusOK, v)
	c.w.Header().Set("Content-Security-Policy", landingWith)
	return a, nil
}

// local reports whether the reader is on this machine and used one of its loopback names: not a proxy, and not a
// stranger's name that resolves here.
func (c *call) local() bool {
	from, err := netip.ParseAddrPort(c.r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() || c.r.Header.Get("X-Forwarded-For") != "" || c.r.Header.Get("Forwarded") != "" {
		return false
	}
	return loopback.Host(c.r.Host)
}

// landingWords are the sentences of the start page.
type landingWords struct {
	Title, Lead, Try, TryLead, Press, Token, Open, Records, Copy, Copied, Docs0, NoKey string
	Docs                                                                               [3]string
	Pages, Entry, EntryWhat, Console, ConsoleWhat, Done, Failed, Unknown               string
}

var landingIn = map[string]landingWords{lang.English: {
	Title: "doorlab", Lead: "Access control for unattended stores, in a lab: an API, doors, and what really happened.",
	Try: "Try it: open a door in a minute", TryLead: "This is the test place's key. The place's board is virtual: nothing real moves.",
	Press: "Open the test door from this page", Token: "Exchange the key for a token", Open: "Open the door", Records: "Read what happened",
	Copy: "Copy", Copied: "Copied",
	NoKey: "Exchange your place's API key for a token, then call the API with it:",
	Docs0: "Reference", Docs: [3]string{"keys, tokens, events, places, opening hours", "permits, memberships, reservations, entry records", "devices, door commands, boards"},
	Pages: "Pages", Entry: "Entry page", EntryWhat: "the page that a customer's link opens: big buttons, one press, one opening. The link comes with a permit.",
	Console: "Console", ConsoleWhat: "look at every board and door, move the clock, break things. Sign in with the control token.",
	Done: "The door opened.", Failed: "Not opened:", Unknown: "It may have opened:",
}, lang.Korean: {
	Title: "doorlab", Lead: "무인 매장 출입 통제 실험실: API와 문, 그리고 실제로 일어난 일.",
	Try: "1분 만에 문 열어 보기", TryLead: "테스트 매장의 키입니다. 보드가 가상이므로 실제 문은 움직이지 않습니다.",
	Press: "이 페이지에서 테스트 문 열기", Token: "키를 토큰으로 교환", Open: "문 열기", Records: "일어난 일 읽기",
	Copy: "복사", Copied: "복사됨",
	NoKey: "매장의 API 키를 토큰으로 교환한 뒤 API를 호출하세요:",
	Docs0: "API 문서", Docs: [3]string{"키, 토큰, 이벤트, 매장, 영업시간", "출입 허가, 회원권, 예약, 출입 기록", "장치, 문 명령, 보드"},
	Pages: "페이지", Entry: "출입 페이지", EntryWhat: "고객이 받는 링크가 여는 페이지입니다. 한 번 누르면 한 번 열립니다. 링크는 출입 허가와 함께 발급됩니다.",
	Console: "콘솔", ConsoleWhat: "모든 보드와 문을 보고, 시계를 옮기고, 장애를 겁니다. 제어 토큰으로 로그인하세요.",
	Done: "문이 열렸습니다.", Failed: "열지 못했습니다:", Unknown: "열렸을 수도 있습니다:",
}}
