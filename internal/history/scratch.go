package history

import (
	"errors"
	"os"
)

// scratch is a file that lasts as long as it is open.
type scratch struct {
	*os.File
	name string // where a file that is open can't be removed, as on Windows: for close to do
}

// newScratch makes a file in dir ("" = the system's for temporary files). Errors: the file system's.
func newScratch(dir string) (*scratch, error) {
	f, err := os.CreateTemp(dir, "history-")
	if err != nil {
		return nil, err
	}
	s := &scratch{File: f}
	if os.Remove(f.Name()) != nil {
		s.name = f.Name()
	}
	return s, nil
}

// close gives the space back.
func (s *scratch) close() error {
	err := s.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	return err
}
