package loadtest

import (
	"net/http"
	"sync/atomic"

	"github.com/doorlab/doorlab/internal/contract"
)

// promise counts the answers that were checked against the target's documents.
type promise struct {
	contract *contract.Contract
	unread   error // the documents that could not be read
	checked  atomic.Int64
	bad      atomic.Int64
	first    atomic.Pointer[string] // describes the first mismatch
}

// restart counts from 0 again, for the next step of a search.
func (p *promise) restart() {
	p.checked.Store(0)
	p.bad.Store(0)
	p.first.Store(nil)
}

// check is safe for concurrent use.
func (p *promise) check(r request, resp *http.Response, body []byte) {
	checked, err := p.contract.Check(r.method, r.route, resp.StatusCode, resp.Header.Get("Content-Type"), body)
	if checked {
		p.checked.Add(1)
	}
	if err != nil {
		p.bad.Add(1)
		why := err.Error()
		p.first.CompareAndSwap(nil, &why)
	}
}
