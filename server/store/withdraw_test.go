package store

import (
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
)

// A withdrawn claim leaves nothing behind and frees its key; a settled command stays.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	c := seeded(t).Commands()
	long := epoch.Add(-command.Retention)
	claim(t, c, intent("cmd_1", "k"), long)
	for range 2 { // the second is a retry after a commit with an unknown result
		must.OK(t, c.Withdraw("cmd_1"))
	}
	if p := claim(t, c, intent("cmd_2", "k"), long); p != nil {
		t.Errorf("the key of a withdrawn claim is taken by %+v, want none", p)
	}
	must.OK(t, c.Settle(command.Settlement{Intent: intent("cmd_2", "k"), Outcome: vocab.Reported, Status: 200}))
	must.OK(t, c.Withdraw("cmd_2"))
	if p := claim(t, c, intent("cmd_3", "k"), long); p == nil || p.Intent.CommandID != "cmd_2" {
		t.Errorf("a settled command was withdrawn: got %+v, want Intent.CommandID cmd_2", p)
	}
}
