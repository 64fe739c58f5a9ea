package testbed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/spans"
)

const (
	caller      = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan = "00f067aa0ba902b7"
	commandSpan = "POST /device/v1/devices/{id}/commands"
)

// wantTree is the trace of a command: names, each indented under its parent, in time order.
var wantTree = [][2]string{{"decide", commandSpan}, {"claim", commandSpan}, {"publish", commandSpan}, {"board", commandSpan},
	{"relay", "board"}, {"report", "board"}, {"settle", commandSpan}, {"answer", commandSpan}}

// tree says what is wrong with the spans of one command. It returns nil if they form one tree under the caller's
// span, with every part in its place.
func tree(all tracetest.SpanStubs) error {
	byID := map[trace.SpanID]tracetest.SpanStub{}
	var root tracetest.SpanStub
	for _, s := range all {
		if s.SpanContext.TraceID().String() == caller {
			byID[s.SpanContext.SpanID()] = s
		}
		if s.Name == commandSpan {
			root = s
		}
	}
	if got := root.Parent.SpanID().String(); got != callersSpan {
		return fmt.Errorf("the request's parent is %s, want the caller's %s", got, callersSpan)
	}
	for i, want := range wantTree {
		var s tracetest.SpanStub
		for _, x := range byID {
			if x.Name == want[0] {
				s = x
			}
		}
		if parent := byID[s.Parent.SpanID()].Name; parent != want[1] {
			return fmt.Errorf("%s is under %q, want %q", want[0], parent, want[1])
		}
		if s.EndTime.Before(s.StartTime) || s.StartTime.Before(root.StartTime) || s.EndTime.After(root.EndTime) {
			return fmt.Errorf("%s lasts from %s to %s, outside of the request's %s to %s", s.Name, s.StartTime, s.EndTime, root.StartTime, root.EndTime)
		}
		if i == 0 {
			continue
		}
		for _, x := range byID {
			if x.Name == wantTree[i-1][0] && s.StartTime.Before(x.StartTime) {
				return fmt.Errorf("%s begins before %s", s.Name, x.Name)
			}
		}
	}
	if len(byID) != len(wantTree)+1 {
		return fmt.Errorf("the trace has %d spans, want %d", len(byID), len(wantTree)+1)
	}
	return nil
}

// TestSpans: a traced command leaves one tree, from its request to its relay, that names no person. A tree whose
// parts have lost their parent is noticed.
func TestSpans(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	tb := begin(t, Config{World: world.Default(3, 1), tracer: spans.New(sdktrace.NewSimpleSpanProcessor(exporter))})
	place, door, ok := tb.Example()
	if !ok {
		t.Fatal("no place to try")
	}
	token, _, err := client.Client{Base: tb.Ready.HTTP}.Exchange(t.Context(), *place.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	exporter.Reset()
	header := http.Header{"Authorization": {"Bearer " + token}, "Idempotency-Key": {"secret-key-1"}, "Content-Type": {"application/json"},
		"Traceparent": {"00-" + caller + "-" + callersSpan + "-01"}}
	body := []byte(`{"capability":"door","command":"open","args":{"reason":"for 01012345678"}}`)
	a, err := client.Send(t.Context(), http.DefaultClient, http.MethodPost, tb.Ready.HTTP+"/device/v1/devices/"+door+"/commands", header, body)
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", a, err)
	}
	must.OK(t, tb.Stop()) // a request's span ends after its answer
	all := exporter.GetSpans()
	if err := tree(all); err != nil {
		t.Errorf("%v\n%+v", err, names(all))
	}
	raw := must.Get(json.Marshal(all))(t)
	for _, secret := range []string{token, *place.APIKey, "secret-key-1", "01012345678"} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("the spans contain %q", secret)
		}
	}
	for i := range all { // drop each part's parent in turn
		if all[i].Name == commandSpan {
			continue
		}
		orphaned := append(tracetest.SpanStubs{}, all...)
		orphaned[i].Parent = trace.SpanContext{}
		if strings.Contains(all[i].Name, " ") { // a separate request
			continue
		}
		if tree(orphaned) == nil {
			t.Errorf("%s without its parent wasn't noticed", all[i].Name)
		}
	}
}

func names(all tracetest.SpanStubs) (out []string) {
	for _, s := range all {
		out = append(out, fmt.Sprintf("%s %s<%s", s.Name, s.SpanContext.SpanID(), s.Parent.SpanID()))
	}
	return out
}

// TestSpansToACollector: a collector receives a trace at the path where it expects one.
func TestSpansToACollector(t *testing.T) {
	t.Parallel()
	got := make(chan string, 16)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		got <- fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Content-Type"), " ", err, " ", bytes.Contains(raw, []byte("POST /core/v1/auth/apikey/token")))
	}))
	defer collector.Close()
	tb := begin(t, Config{World: world.Default(3, 1), OTLP: collector.URL})
	place, _, _ := tb.Example()
	if _, _, err := (client.Client{Base: tb.Ready.HTTP}).Exchange(t.Context(), *place.APIKey); err != nil {
		t.Fatal(err)
	}
	must.OK(t, tb.Stop()) // flushes what is left
	select {
	case text := <-got:
		if want := "POST /v1/traces application/x-protobuf <nil> true"; text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	default:
		t.Error("the collector got nothing")
	}
}

// TestSpansOff: without a collector nothing is traced, and an invalid collector address is refused.
func TestSpansOff(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{World: world.Default(3, 1)})
	if tb.spans != nil {
		t.Error("there is a tracer that nobody asked for")
	}
	for _, addr := range []string{"http://[::1", "127.0.0.1:4318", "tcp://127.0.0.1:4318"} {
		if _, err := Start(t.Context(), Config{World: world.Default(3, 1), DataDir: t.TempDir(), OTLP: addr}); err == nil || !strings.Contains(err.Error(), "--otlp") {
			t.Errorf("%s: got %v, want an error that names --otlp", addr, err)
		}
	}
}
