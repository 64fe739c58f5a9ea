package router_test

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/shard"
)

// pageOfGoneCell: a browser that wants a page of the second cell, which is down, gets an error page in Korean and
// English. Clients that ask for JSON get JSON, and pages of live cells are passed on unchanged.
func (c *cells) pageOfGoneCell(t *testing.T) {
	t.Helper()
	const browser, form = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "application/x-www-form-urlencoded"
	link := func(n int) string { return shard.Label(c.world.Places[n].ID) + strings.Repeat("x", 35) }
	for name, q := range map[string]struct {
		page         bool
		method, path string
		body         string
		header       []string
	}{
		"the page in a browser":     {true, "GET", "/entry?t=" + link(1), "", []string{"Accept", browser}},
		"the page, whatever comes":  {true, "GET", "/entry?t=" + link(1), "", nil},
		"the button in a browser":   {true, "POST", "/entry/open", "t=" + link(1) + "&doorId=dor_1", []string{"Accept", browser, "Content-Type", form}},
		"a program":                 {false, "GET", "/entry?t=" + link(1), "", []string{"Accept", "application/json"}},
		"a program's button":        {false, "POST", "/entry/open", `{"t":"` + link(1) + `","doorId":"dor_1"}`, []string{"Content-Type", "application/json"}},
		"the picture of the QR":     {false, "GET", "/entry/qr.svg?t=" + link(1), "", []string{"Accept", "image/svg+xml,*/*"}},
		"an API route in a browser": {false, "GET", "/device/v1/devices", "", []string{"Accept", browser, "Authorization", tokenOf(c.world.Places[1].ID)}},
	} {
		status, body, h := c.do(t, q.method, q.path, q.body, q.header...)
		kind := "application/json"
		if q.page {
			kind = "text/html; charset=utf-8"
		}
		if status != 503 || h.Get("Content-Type") != kind || h.Get("Retry-After") == "" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v, want 503 as %s that says when to try again", name, status, h, kind)
		}
		if korean, english := strings.Contains(body, "다시 시도해 주세요"), strings.Contains(body, "please try again"); korean != q.page || english != q.page {
			t.Errorf("%s: Korean %t, English %t, want both %t: %s", name, korean, english, q.page, body)
		}
		if policy := h.Get("Content-Security-Policy"); q.page != strings.Contains(policy, "style-src 'sha256-") {
			t.Errorf("%s: Content-Security-Policy %q, want one for a page only", name, policy)
		}
	}
	if status, body, _ := c.do(t, "GET", "/entry?t="+link(0), "", "Accept", browser); status != 200 || body != "1" {
		t.Errorf("the page of a living cell: %d %q, want its own", status, body)
	}
}
