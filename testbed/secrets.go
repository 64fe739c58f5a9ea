package testbed

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/loopback"
)

// ErrSecretFile: the shared secret can't be read or created, or is too short.
var ErrSecretFile = errors.New("--secret-file")

// prepare checks that the data directory is complete and consistent, takes it, and fills in the world's secrets.
// Errors: those of datadir, ErrSecretFile, ErrInUse, ErrOtherWorld, the file system's.
func (t *Testbed) prepare(c Config) (err error) {
	have, err := readLab(c.DataDir, labFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !c.Init {
		return ofDir(c.DataDir, err)
	}
	_, err = datadir.Whole(c.DataDir, have != nil && have.Begun)
	afresh := errors.Is(err, datadir.ErrIncomplete) && c.Init
	if afresh {
		err, have = nil, nil
	}
	if err != nil {
		return err
	}
	source := sourceOf(c, have)
	shared, err := sharedSecret(c.SecretFile, have == nil || have.Begun) // before the data directory changes
	if err != nil {
		return err
	}
	if afresh {
		if err := t.setAside(c.DataDir); err != nil {
			return err
		}
	}
	t.Ready.RepeatableSecrets = source == fromSeed && c.World.HasLive()
	if t.memory, err = openLab(c.DataDir, labFile, c.World, c.FileSeed); err != nil {
		return err
	}
	if t.detached, err = boardsim.Detached(t.ofBoards()); err != nil {
		return ofDir(t.ofBoards(), err)
	}
	return t.secrets(c, source, shared)
}

// sharedSecret reads the secret of a --secret-file, nil without one.
func sharedSecret(path string, create bool) (datadir.Secret, error) {
	if path == "" {
		return nil, nil
	}
	s, err := datadir.OpenShared(path, create)
	if pe, ok := errors.AsType[*fs.PathError](err); ok { // its path may be the temporary name of a file being created
		err = fmt.Errorf("%s: %w", path, pe.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSecretFile, err)
	}
	return s, nil
}

// sourceOf is the source of live places' secrets: the one used before, or what a first start asks for.
func sourceOf(c Config, have *lab) string {
	switch {
	case have != nil && !have.Begun:
		return cmp.Or(have.Secrets, fromSeed) // "" of an older version
	case c.SecretFile != "":
		return fromFile
	case c.Seeded:
		return fromSeed
	}
	return fromData
}

// setAside sets aside the contents of the data directory, which no other process may be using.
func (t *Testbed) setAside(dir string) error {
	lock, err := lockFile(dir, "lock")
	if err != nil {
		return err
	}
	return errors.Join(datadir.StartOver(dir, clock.WallNow()), lock.Close())
}

// secrets derives the world's secrets from their source.
func (t *Testbed) secrets(c Config, source string, shared datadir.Secret) error {
	own, err := datadir.OpenSecret(c.DataDir)
	if err != nil {
		return ofDir(c.DataDir, err)
	}
	l := t.memory
	if l.SecretID != "" && l.SecretID != own.ID() {
		return fmt.Errorf("%w: %s in %s isn't the one that %s was written with; restore the backup of all of them",
			datadir.ErrForeign, datadir.SecretFile, c.DataDir, labFile)
	}
	sharedID := ""
	if shared != nil {
		sharedID = shared.ID()
	}
	if l.Secrets = source; l.Begun {
		l.Shared = sharedID
	}
	if l.Shared != sharedID {
		return fmt.Errorf("%w: its secrets come from %s; start it as before", ErrOtherWorld,
			map[string]string{fromFile: "another --secret-file", fromData: "the directory itself, not from a --secret-file", fromSeed: "the seed, not from a --secret-file"}[l.Secrets])
	}
	root := own.Of("world")
	switch l.Secrets {
	case fromFile:
		root = shared.Of("world")
	case fromSeed:
		root = nil
	}
	if l.Labels {
		c.World.DeriveSecrets(root)
	} else {
		c.World.DeriveUnlabelled(root)
	}
	l.SecretID = own.ID()
	return ofDir(c.DataDir, l.write())
}

// mayListen refuses listeners that others can reach while live places have secrets that others can compute:
// ErrRepeatable.
func mayListen(c Config) error {
	have, err := readLab(c.DataDir, labFile)
	if err != nil {
		have = nil // prepare will report what is wrong with it
	}
	if sourceOf(c, have) != fromSeed || !c.World.HasLive() {
		return nil
	}
	for _, l := range []struct{ flag, addr string }{{"http", c.HTTP}, {"mqtt", c.MQTT}, {"control", c.Control}, {"metrics", c.Metrics}, {"sip", c.SIP}} {
		if l.addr != "" && !loopback.Host(l.addr) {
			return fmt.Errorf("%w, which anybody can guess, and --%s %s isn't on loopback; "+
				"start without a seed on a new data directory, or with --secret-file FILE, or listen on loopback only", ErrRepeatable, l.flag, l.addr)
		}
	}
	return nil
}
