package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/certs"
	"github.com/doorlab/doorlab/internal/certs/certstest"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

// mosquitto is a broker in a process of its own: TLS with client certificates, a
// password for each board, and each board confined to its own topics.
type mosquitto struct {
	t    *testing.T
	conf string
	cmd  *exec.Cmd
}

func newMosquitto(t *testing.T, addr string, ca *certstest.CA, passwords map[string]string) *mosquitto {
	t.Helper()
	cert, key := ca.Issue("mosquitto", 1)
	m := &mosquitto{t: t, conf: filepath.Join(t.TempDir(), "mosquitto.conf")}
	users, acl := m.conf+".users", m.conf+".acl"
	var list strings.Builder
	for user, password := range passwords {
		fmt.Fprintf(&list, "%s:%s\n", user, password)
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		users: list.String(),
		acl:   "user server\ntopic readwrite " + wire.Prefix + "#\npattern readwrite " + wire.Prefix + "%u/+\n",
		m.conf: fmt.Sprintf("listener %s 127.0.0.1\ncafile %s\ncertfile %s\nkeyfile %s\nrequire_certificate true\n"+
			"allow_anonymous false\npassword_file %s\nacl_file %s\nlog_dest stderr\nlog_type all\n", port, ca.File, cert, key, users, acl),
	} {
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	if out, err := exec.Command(must.Have(t, "mosquitto_passwd", "mosquitto"), "-U", users).CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_passwd: %v\n%s", err, out)
	}
	if os.Geteuid() == 0 { // or it gives up its rights to its own files
		f := must.Get(os.OpenFile(m.conf, os.O_APPEND|os.O_WRONLY, 0))(t)
		defer func() { _ = f.Close() }()
		must.Get(f.WriteString("user root\n"))(t)
	}
	t.Cleanup(m.kill)
	m.start()
	return m
}

func (m *mosquitto) start() {
	m.t.Helper()
	m.cmd = exec.Command(must.Have(m.t, "mosquitto", "mosquitto"), "-c", m.conf)
	said, err := m.cmd.StderrPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	var all strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), " running") {
			go func() { // or its log blocks it
				for lines.Scan() {
				}
			}()
			return
		}
	}
	m.t.Fatalf("mosquitto doesn't run:\n%s", all.String())
}

// kill ends it as a power cut does.
func (m *mosquitto) kill() {
	if m.cmd != nil && m.cmd.Process != nil {
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
	}
}

// TestBoardsOnMosquitto: simulated boards on somebody else's broker, over TLS with a
// client certificate, with a server of 100 lines behind it: hello, content, command,
// report, a repeat of the command, and a report that the broker's death has cut off.
func TestBoardsOnMosquitto(t *testing.T) {
	t.Parallel()
	must.Have(t, "mosquitto", "mosquitto")
	dir, addr := t.TempDir(), freeAddr(t)
	file := filepath.Join(dir, "world.yaml")
	must.OK(t, os.WriteFile(file, []byte(killWorld), 0o600))
	w := must.Get(loadWorld(t.Context(), file, 0))(t)
	w.DeriveSecrets(nil)
	boards, passwords := w.Places[len(w.Places)-1].Boards, map[string]string{"server": "behind-the-broker"}
	for _, b := range boards {
		passwords[b.ID] = b.Password
	}
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("fleet", 2)
	broker := newMosquitto(t, addr, ca, passwords)
	secure := must.Get(certs.Client{CA: ca.File, Cert: cert, Key: key}.Config())(t)
	server := serveThin(t, addr, secure, passwords["server"])
	foreign := certstest.NewCA(t)
	var refused sync.WaitGroup
	for why, args := range map[string][]string{
		"certificate|reset|broken pipe": {"--mqtt-ca", ca.File}, // a broker that is gone may not be heard any more
		"certificate":                   {"--mqtt-ca", foreign.File, "--mqtt-client-cert", cert, "--mqtt-client-key", key},
	} {
		refused.Go(func() {
			refusedBoards(t, why, append([]string{"--world", file, "--broker", "mqtts://" + addr}, args...))
		})
	}
	refused.Wait() // the broker is going to be killed

	p := start(t, "boards", "--json", "--world", file, "--broker", "mqtts://"+addr, "--mqtt-ca", ca.File, "--mqtt-client-cert", cert,
		"--mqtt-client-key", key, "--control", "127.0.0.1:0", "--data", filepath.Join(dir, "boards"))
	fleet := p.fleet()
	if fleet.Boards != len(boards) {
		t.Errorf("%d boards are connected, want %d", fleet.Boards, len(boards))
	}
	lab := client.Client{Base: fleet.Control, Token: fleet.ControlToken}
	board, door := boards[0].ID, boards[0].Doors[0].ID
	server.until("content on every board", func() bool { return len(server.synced) == len(boards) })

	server.open(board, door, "cmd_1")
	server.until("a report", func() bool { return len(server.reports["cmd_1"]) == 1 })
	server.open(board, door, "cmd_1") // again: the same report, and no second pulse
	server.until("the report again", func() bool { return len(server.reports["cmd_1"]) == 2 })
	server.mutely(true)
	server.open(board, door, "cmd_2")
	server.until("a report that nobody acknowledges", func() bool { return len(server.reports["cmd_2"]) == 1 })
	broker.kill()
	server.mutely(false)
	broker.start()
	server.until("every board's hello after the broker's death", func() bool {
		for _, b := range boards {
			if len(server.hellos[b.ID]) < 2 {
				return false
			}
		}
		return true
	})
	server.until("the report that was cut off", func() bool { return len(server.reports["cmd_2"]) >= 2 })
	server.open(board, door, "cmd_3")
	server.until("a report after it", func() bool { return len(server.reports["cmd_3"]) >= 1 })
	judgeThin(t, server, lab, board)
	if said := p.stderr.String(); strings.Contains(said, "was dropped") {
		t.Errorf("the fleet dropped messages: its own acknowledgements come back from such a broker\n%s", said)
	}
}

// judgeThin holds what the server heard against the relay's journal.
func judgeThin(t *testing.T, server *thinServer, lab client.Client, board string) {
	t.Helper()
	var journal []journalLine
	clienttest.Do(t, lab, "GET", "/lab/v1/boards/"+board+"/journal", nil, &journal)
	pulses := map[string]int{}
	for _, l := range journal {
		if l.Action == "pulse" {
			pulses[l.CommandID]++
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, id := range []string{"cmd_1", "cmd_2", "cmd_3"} {
		if pulses[id] != 1 {
			t.Errorf("%s: %d pulses in the journal, want 1", id, pulses[id])
		}
		for _, r := range server.reports[id] {
			if r.Result != "ok" {
				t.Errorf("%s was reported %s %s, want ok", id, r.Result, r.Code)
			}
		}
	}
	first, second := server.hellos[board][0], server.hellos[board][1]
	if first.Revision != 0 || second.Revision != 1 || second.Digest != content().Digest || second.Boot != first.Boot || second.OutageAgeMs <= 0 {
		t.Errorf("hellos: revision %d, then %d with digest %q, boot %d, then %d, outage age %d ms; want 0, 1, %q, the same boot and an outage",
			first.Revision, second.Revision, second.Digest, first.Boot, second.Boot, second.OutageAgeMs, content().Digest)
	}
}

// refusedBoards: a fleet that the broker doesn't let in says why.
func refusedBoards(t *testing.T, why string, args []string) {
	t.Helper()
	args = append([]string{"boards", "--control", "", "--timeout", "6s"}, args...)
	code, out, errs := runQuietly(t.Context(), args...)
	if code != codeUnreachable || !regexp.MustCompile(why).MatchString(out+errs) {
		t.Errorf("%q: exit code %d, want %d and the reason, %s\n%s%s", args, code, codeUnreachable, why, out, errs)
	}
}
