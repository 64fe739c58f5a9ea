package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdin notes that the client is done, which is how a session ends.
type stdin struct {
	*env
	ended atomic.Bool
}

func (s *stdin) Read(b []byte) (int, error) {
	n, err := s.in.Read(b)
	if err == io.EOF {
		s.ended.Store(true)
	}
	return n, err
}

func (*stdin) Close() error { return nil }

type stdout struct{ *env }

func (s stdout) Write(b []byte) (int, error) { return s.out.Write(b) }
func (stdout) Close() error                  { return nil }

// session answers every request that it has read before it ends. The SDK alone drops what is in progress when the input ends, and
// a file or a shell's pipe ends right after its last request.
type session struct {
	mcp.IOTransport
	misread atomic.Bool // the input had something other than messages
}

func (s *session) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := s.IOTransport.Connect(ctx)
	return &answering{Connection: c, misread: &s.misread, open: map[any]bool{}, changed: make(chan struct{}, 1), closed: make(chan struct{})}, err
}

type answering struct {
	mcp.Connection
	misread *atomic.Bool
	mu      sync.Mutex
	open    map[any]bool // ids of requests without an answer
	changed chan struct{}
	closing sync.Once
	closed  chan struct{}
}

// Read returns the end of the input, or what is wrong with it, once all that came before is answered.
func (a *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := a.Connection.Read(ctx)
	if err != nil {
		if !errors.Is(err, io.EOF) && ctx.Err() == nil {
			a.misread.Store(true)
		}
		for a.answersMissing() {
			select {
			case <-a.changed:
			case <-a.closed:
				return nil, err
			case <-ctx.Done():
				return nil, err
			}
		}
		return nil, err
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		a.asked(r)
	}
	return m, nil
}

func (a *answering) Write(ctx context.Context, m jsonrpc.Message) error {
	err := a.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		a.settle(r.ID.Raw())
	}
	return err
}

func (a *answering) Close() error {
	a.closing.Do(func() { close(a.closed) })
	return a.Connection.Close()
}

// asked notes a request. One that its client cancels may stay without an answer.
func (a *answering) asked(r *jsonrpc.Request) {
	if r.IsCall() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.open[r.ID.Raw()] = true
	} else if r.Method == "notifications/cancelled" {
		var p struct {
			ID any `json:"requestId"`
		}
		if json.Unmarshal(r.Params, &p) != nil {
			return
		}
		if id, err := jsonrpc.MakeID(p.ID); err == nil {
			a.settle(id.Raw())
		}
	}
}

func (a *answering) settle(id any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

func (a *answering) answersMissing() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open) > 0
}
