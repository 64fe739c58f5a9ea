package clock

// Joined is a connection that a server of this flight reads. From the moment either side ends it until the server has
// handled that, its end is work in progress.
type Joined struct {
	f    *Flight
	key  [2]string
	done func() // of the work; nil = the connection stands
	over bool
	left chan struct{} // closed when over
}

// Join says that the server now reads a board's connection from this address. It returns nil for a nil flight.
func (f *Flight) Join(boardID, address string) *Joined {
	if f == nil {
		return nil
	}
	j := &Joined{f: f, key: [2]string{boardID, address}, left: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.joined[j.key] = j
	return j
}

// Ends says that the board's side is about to end its connection from this address: the server learns of it later, and
// a jump waits for that. It doesn't count for a connection that no server of this flight has joined; see TakeEnded.
func (f *Flight) Ends(boardID, address string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	j := f.joined[[2]string{boardID, address}]
	if j == nil {
		f.ended[boardID] = address // only a board's latest: the server lets it replace earlier ones
	}
	f.mu.Unlock()
	j.Ends()
}

// TakeEnded returns, by board, the address of its latest connection to a server outside this flight that has ended
// since the last call.
func (f *Flight) TakeEnded() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ended := f.ended
	f.ended = map[string]string{}
	return ended
}

// Left returns a channel that is closed once the server has handled the end of a board's connection from this address;
// nil if there is no such connection.
func (f *Flight) Left(boardID, address string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j := f.joined[[2]string{boardID, address}]; j != nil {
		return j.left
	}
	return nil
}

// Ends is the same as Flight.Ends, from the server's side.
func (j *Joined) Ends() {
	if j == nil {
		return
	}
	j.f.mu.Lock()
	defer j.f.mu.Unlock()
	if j.done == nil && !j.over {
		j.done = j.f.begin()
	}
}

// Left says that the server has handled the connection's end.
func (j *Joined) Left() {
	if j == nil {
		return
	}
	j.f.mu.Lock()
	done := j.done
	if !j.over {
		close(j.left)
	}
	j.over = true
	if j.f.joined[j.key] == j {
		delete(j.f.joined, j.key)
	}
	j.f.mu.Unlock()
	if done != nil {
		done()
	}
}
