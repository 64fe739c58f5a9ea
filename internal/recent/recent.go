// Package recent remembers what was used lately. Whatever it forgets must be available elsewhere: from a signature, or
// from the database.
package recent

import "sync"

// most is how many entries a Map keeps at least; it keeps at most twice as many.
const most = 4096

// Map remembers the entries that were put or got most recently. The zero value is empty.
type Map[K comparable, V any] struct {
	mu  sync.RWMutex
	now map[K]V // and the ones before, until there are many
	old map[K]V
}

// Get finds what was put under a key, unless forgotten.
func (m *Map[K, V]) Get(k K) (V, bool) {
	m.mu.RLock()
	v, ok := m.now[k]
	used := false
	if !ok {
		v, ok = m.old[k]
		used = ok
	}
	m.mu.RUnlock()
	if used { // it survives the next rotation
		m.Put(k, v)
	}
	return v, ok
}

// Put remembers an entry.
func (m *Map[K, V]) Put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil || len(m.now) >= most {
		m.old, m.now = m.now, map[K]V{}
	}
	m.now[k] = v
}
