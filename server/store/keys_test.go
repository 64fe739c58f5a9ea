package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/fail"
)

// TestRotationAudited: a board's new password is in the audit log, without the password.
func TestRotationAudited(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	must.OK(t, s.RotateBoard("brd_a", func(int64) string { return "hash" }))
	list, n, err := s.Audits("plc_a", 10, 0)
	if err != nil || n != 1 || list[0].Action != "board.rotated" || list[0].Detail != "brd_a" {
		t.Errorf("audit log %+v, %v, want board.rotated of brd_a", list, err)
	}
	if err := s.RotateBoard("brd_none", func(int64) string { return "hash" }); !errors.Is(err, fail.ErrNotFound) {
		t.Errorf("an unknown board: got %v, want %v", err, fail.ErrNotFound)
	}
}

// TestKeysAudited: a key that an operator issues or revokes is in the audit log, once, without its name and hash.
func TestKeysAudited(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	_, before, err := s.Audits("plc_a", 1, 0)
	must.OK(t, err)
	must.OK(t, s.InsertKey(auth.Key{ID: "key_new", PlaceID: "plc_a", Name: "a name", Scopes: []string{auth.ScopeDoor}, CreatedAt: epoch}, "hash"))
	must.OK(t, s.RevokeKey("key_new", epoch))
	must.OK(t, s.RevokeKey("key_new", epoch.Add(1)))
	if err := s.RevokeKey("key_none", epoch); !errors.Is(err, fail.ErrNotFound) {
		t.Errorf("an unknown key: got %v, want %v", err, fail.ErrNotFound)
	}
	list, n, err := s.Audits("plc_a", 10, 0)
	var got []string
	for _, a := range list {
		got = append(got, fmt.Sprintf("%s by %q: %s", a.Action, a.KeyID, a.Detail))
	}
	want := []string{`key.revoked by "": key_new: device:door`, `key.issued by "": key_new: device:door`}
	if err != nil || before != 0 || n != 2 || !slices.Equal(got, want) {
		t.Errorf("audit log %q (%d before), %v, want %q", got, before, err, want)
	}
	if k := must.Get(s.Key("key_new"))(t); !k.RevokedAt.Equal(epoch) {
		t.Errorf("revoked at %s, want the first time %s", k.RevokedAt, epoch)
	}
}
