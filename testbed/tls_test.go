package testbed

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/certs"
	"github.com/doorlab/doorlab/internal/certs/certstest"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// connack connects to a broker as a board and returns the CONNACK code, or an error if TLS ends the connection first.
func connack(t *testing.T, addr string, cfg *tls.Config, user, password string) (byte, error) {
	t.Helper()
	c, err := tls.Dial("tcp", addr, cfg)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	text := func(s string) string { return string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }
	body := text("MQTT") + "\x04\xc2\x00\x1e" + text(user) + text(user) + text(password)
	if _, err := io.WriteString(c, "\x10"+string(rune(len(body)))+body); err != nil {
		return 0, err
	}
	var answer [4]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return 0, err
	}
	return answer[3], nil
}

func serial(t *testing.T, addr string, cfg *tls.Config) int64 {
	t.Helper()
	c := must.Get(tls.Dial("tcp", addr, cfg))(t)
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// TestTLS: both listeners speak TLS, a board needs a certificate of the right authority and can't use another
// board's, and new files are served without a restart.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	web, webKey := ca.Issue("web", 1)
	broker, brokerKey := ca.Issue("broker", 2)
	tb := begin(t, Config{TLS: certs.Files{Cert: web, Key: webKey}, MQTTTLS: certs.Files{Cert: broker, Key: brokerKey, ClientCA: ca.File}})
	trusting := func(c certs.Client) *tls.Config {
		t.Helper()
		c.CA = ca.File
		cfg := must.Get(c.Config())(t)
		return cfg
	}
	none := trusting(certs.Client{})

	if !strings.HasPrefix(tb.Ready.HTTP, "https://") || !strings.HasPrefix(tb.Ready.MQTT, "mqtts://") || !strings.HasPrefix(tb.Ready.Control, "http://127.") {
		t.Errorf("ready: %s, %s, %s; want https, mqtts, and the control API on loopback in clear", tb.Ready.HTTP, tb.Ready.MQTT, tb.Ready.Control)
	}
	hc := client.Trusting(none)
	t.Cleanup(hc.CloseIdleConnections)
	if _, _, err := (client.Client{Base: tb.Ready.HTTP, HTTP: hc}).Exchange(t.Context(), *tb.Ready.Places[0].APIKey); err != nil {
		t.Errorf("exchange over TLS: got %v, want no error", err)
	}
	resp := must.Get(http.Get(strings.Replace(tb.Ready.HTTP, "https:", "http:", 1) + "/livez"))(t)
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("in clear: %d, want 400", resp.StatusCode)
	}
	if link, err := tb.ExampleLink(t.Context(), *tb.Ready.Places[0].APIKey); err != nil || !strings.HasPrefix(link, "https://") {
		t.Errorf("example link %q, %v; want one over https", link, err)
	}

	addr := strings.TrimPrefix(tb.Ready.MQTT, "mqtts://")
	boards := tb.cfg.World.Places[1].Boards
	own, ownKey := ca.Issue(boards[0].ID, 3)
	other, otherKey := ca.Issue(boards[1].ID, 4)
	fleet, fleetKey := ca.Issue("the whole fleet", 5)
	if code, err := connack(t, addr, none, boards[0].ID, boards[0].Password); err == nil {
		t.Errorf("without a certificate: CONNACK %d, want the connection to end", code)
	}
	for name, c := range map[string]struct {
		with     certs.Client
		password string
		want     byte
	}{
		"its own":                     {certs.Client{Cert: own, Key: ownKey}, boards[0].Password, 0},
		"its own, a wrong password":   {certs.Client{Cert: own, Key: ownKey}, "wrong", 5},
		"another board's":             {certs.Client{Cert: other, Key: otherKey}, boards[0].Password, 5},
		"one that names no board":     {certs.Client{Cert: fleet, Key: fleetKey}, boards[0].Password, 0},
		"nobody's, wrong password":    {certs.Client{Cert: fleet, Key: fleetKey}, "wrong", 5},
		"its own, no password at all": {certs.Client{Cert: own, Key: ownKey}, "", 5},
	} {
		if code, err := connack(t, addr, trusting(c.with), boards[0].ID, c.password); code != c.want || err != nil {
			t.Errorf("certificate: %s: CONNACK %d, %v; want %d", name, code, err, c.want)
		}
	}

	http1, mqtt1 := strings.TrimPrefix(tb.Ready.HTTP, "https://"), trusting(certs.Client{Cert: own, Key: ownKey})
	ca.Issue("web", 6)
	ca.Issue("broker", 7)
	if got, want := [2]int64{serial(t, http1, none), serial(t, addr, mqtt1)}, [2]int64{6, 7}; got != want {
		t.Errorf("after the files have changed: certificates %v, want %v", got, want)
	}
	must.OK(t, tb.Restart())
	if got := serial(t, addr, mqtt1); got != 7 {
		t.Errorf("after a restart in place: certificate %d, want 7", got)
	}
}

// TestSimulatedBoardsOverTLS: the process's own boards trust its certificate, whatever names it contains.
func TestSimulatedBoardsOverTLS(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	broker, key := ca.Issue("broker", 1)
	tb := begin(t, Config{Link: TCP, MQTTTLS: certs.Files{Cert: broker, Key: key}})
	if got := open(t, tb, 1, "over-tls"); got != http.StatusOK {
		t.Errorf("command over TLS: %d, want 200", got)
	}
}

// TestPlainListenersAreNamed: unencrypted listeners that others can reach are named at the start.
func TestPlainListenersAreNamed(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("server", 1)
	for name, c := range map[string]struct {
		cfg  Config
		want []string
	}{
		"all in clear": {Config{HTTP: "0.0.0.0:0", MQTT: "0.0.0.0:0", SIP: "0.0.0.0:0"}, []string{"--http", "--mqtt", "--sip"}},
		"TLS":          {Config{HTTP: "0.0.0.0:0", MQTT: "0.0.0.0:0", TLS: certs.Files{Cert: cert, Key: key}, MQTTTLS: certs.Files{Cert: cert, Key: key}}, nil},
		"HTTP alone":   {Config{HTTP: "0.0.0.0:0", MQTT: "0.0.0.0:0", TLS: certs.Files{Cert: cert, Key: key}}, []string{"--mqtt"}},
		"loopback":     {Config{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &capture.Text{}
			c.cfg.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			c.cfg.World = world.Default(3, 0)
			begin(t, c.cfg)
			var got []string
			for l := range strings.SplitSeq(log.String(), "\n") {
				if strings.Contains(l, "without TLS") {
					got = append(got, l)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("warnings %q, want them for %v", got, c.want)
			}
			for i, flag := range c.want {
				if !strings.Contains(got[i], "flag="+flag) {
					t.Errorf("warning %q, want it for %s", got[i], flag)
				}
			}
		})
	}
}

// TestControlOffLoopback: with a certificate, the control API uses TLS where others can reach it.
func TestControlOffLoopback(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("server", 1)
	tb := must.Get(Start(t.Context(), Config{World: world.Default(3, 0), DataDir: t.TempDir(), Control: "0.0.0.0:0", TLS: certs.Files{Cert: cert, Key: key}}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(tb.Ready.Control, "https://"))
	cfg := must.Get(certs.Client{CA: ca.File}.Config())(t)
	hc := client.Trusting(cfg)
	t.Cleanup(hc.CloseIdleConnections)
	c := client.Client{Base: "https://127.0.0.1:" + port, Token: tb.Ready.ControlToken, HTTP: hc}
	if places, err := c.Places(t.Context()); err != nil || len(places) != 1 {
		t.Errorf("%d places, %v; want 1 over TLS", len(places), err)
	}
}

// TestLinksThatNobodyCanOpen: a listener on every address is no address for entry links, unless --link-url names one.
func TestLinksThatNobodyCanOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  Config
		want bool
	}{
		"every address": {Config{HTTP: "0.0.0.0:0"}, true},
		"every IPv6":    {Config{HTTP: "[::]:0"}, true},
		"no host":       {Config{HTTP: ":0"}, true},
		"with a URL":    {Config{HTTP: "0.0.0.0:0", LinkURL: "https://doors.example.com"}, false},
		"loopback":      {Config{HTTP: "127.0.0.1:0"}, false},
		"default":       {Config{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &capture.Text{}
			c.cfg.Log = slog.New(slog.NewTextHandler(log, nil))
			var tb Testbed
			public := must.Get(tb.listen("http", c.cfg.HTTP))(t)
			defer func() { must.OK(t, public.Close()) }()
			tb.warnOfLinks(c.cfg, public.Addr())
			if got := strings.Contains(log.String(), "they would begin with http://"+public.Addr().String()+", every address of this machine; set --link-url to the URL that people use"); got != c.want {
				t.Errorf("warned %t, want %t: %s", got, c.want, log)
			}
		})
	}
}
