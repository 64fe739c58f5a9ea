package history

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"io"
)

// pages are lists of events in an unnamed file, each read back as a whole. One goroutine
// writes; any may read what was written.
type pages struct {
	file *scratch
	size int64
	z    *gzip.Writer
}

// page is where one of them lies.
type page struct {
	at, size int64
	events   int
}

// newPages makes the file in dir ("" = the system's for temporary files). Errors: the file system's.
func newPages(dir string) (*pages, error) {
	f, err := newScratch(dir)
	if err != nil {
		return nil, err
	}
	p := &pages{file: f}
	p.z, err = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return p, err
}

// close gives the space back.
func (p *pages) close() error { return p.file.close() }

// put writes events as a page.
func (p *pages) put(events []Event) (page, error) {
	var b bytes.Buffer
	p.z.Reset(&b)
	err := gob.NewEncoder(p.z).Encode(events)
	if err = errors.Join(err, p.z.Close()); err != nil {
		return page{}, err
	}
	out := page{at: p.size, size: int64(b.Len()), events: len(events)}
	_, err = p.file.WriteAt(b.Bytes(), p.size)
	if err == nil {
		p.size += out.size
	}
	return out, err
}

// get reads a page.
func (p *pages) get(at page) (events []Event, err error) {
	z, err := gzip.NewReader(io.NewSectionReader(p.file, at.at, at.size))
	if err != nil {
		return nil, err
	}
	err = gob.NewDecoder(z).Decode(&events)
	if err == nil && len(events) != at.events {
		err = ErrTruncated
	}
	return events, err
}
