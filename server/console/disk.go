package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/server/disk"
)

var diskStates = []disk.State{disk.OK, disk.Full, disk.Stalled, disk.Slow}

func (c Config) showDisk(w http.ResponseWriter, _ *http.Request) {
	state, late, hits := c.Disk.State()
	out := map[string]any{"state": state, "hits": hits}
	if state == disk.Slow {
		out["delayMs"] = late.Milliseconds()
	}
	control.Data(w, out)
}

func (c Config) setDisk(w http.ResponseWriter, r *http.Request) {
	var b struct {
		State   disk.State `json:"state"`
		DelayMs *int64     `json:"delayMs"`
	}
	if !control.Body(w, r, &b) {
		return
	}
	if !slices.Contains(diskStates, b.State) {
		names := each.Of(diskStates, func(s disk.State) string { return string(s) })
		control.FailField(w, "state", "must be one of "+strings.Join(names, ", ")+near.Hint(string(b.State), names))
		return
	}
	late := time.Duration(0)
	switch most := disk.MaxLate.Milliseconds(); {
	case b.State == disk.Slow && (b.DelayMs == nil || *b.DelayMs < 1 || *b.DelayMs > most):
		control.FailField(w, "delayMs", fmt.Sprintf("must be between 1 and %d on a slow disk", most))
		return
	case b.State != disk.Slow && b.DelayMs != nil:
		control.FailField(w, "delayMs", "is for a slow disk only")
		return
	case b.State == disk.Slow:
		late = time.Duration(*b.DelayMs) * time.Millisecond
	}
	c.Disk.Set(b.State, late)
	c.showDisk(w, r)
}

func (c Config) repairDisk(w http.ResponseWriter, r *http.Request) {
	c.Disk.Set(disk.OK, 0)
	c.showDisk(w, r)
}
