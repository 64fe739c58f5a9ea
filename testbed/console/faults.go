package console

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/faults"
)

type faultsView struct {
	Armed  []armedFault
	Disk   diskView
	Groups []faultGroup
	Chosen string // name, of the one whose form is open
	Places []choice
	Boards []string // chosen
	Known  []choice // to choose from, the first maxKnown
}

// faultGroup is the faults that act on the same thing, in the order in which they act.
type faultGroup struct {
	Word  string // key of its heading
	Kinds []faultKind
}

// usualShare is the percentage that the form offers.
const usualShare = "10"

// Share is the percentage that the form offers.
func (v faultsView) Share() string { return usualShare }

// Menu reports whether the places fit in a menu, of which every fault has one.
func (v faultsView) Menu() bool { return len(v.Places) <= maxMenu }

type faultKind struct {
	faults.Fault
	Acts     string // key
	Commands bool   // takes doors, commands and nth
	Lasts    bool   // takes for
}

// maxKnown is how many boards the page offers to choose from: a list of thousands is slow, and no help.
const maxKnown = 200

// maxMenu is up to how many places stand in a menu: the page has one per fault.
const maxMenu = 50

type choice struct{ ID, Name string }

// armedFault is one of the control API's list.
type armedFault struct {
	faults.Armed
	Where string // the first board as people call it
}

// First is a board for examination.
func (a armedFault) First() string {
	if len(a.Boards) == 0 {
		return ""
	}
	return a.Boards[0]
}

// cutsOne reports whether it cuts the line of a single board.
func (a armedFault) cutsOne() bool { return a.Fault == "offline" && a.Count == 1 }

// Boards64 is how many boards it affects.
func (a armedFault) Boards64() int64 { return int64(a.Count) }

// Begun is when it was armed.
func (a armedFault) Begun() string { return a.Since.UTC().Format(timeFormat) }

// Detail is what the fault was armed with.
func (a armedFault) Detail() string {
	var parts []string
	for k, v := range a.Params {
		b, _ := json.Marshal(v)
		parts = append(parts, k+" "+strings.Trim(string(b), `"`))
	}
	slices.Sort(parts)
	if len(a.Commands) > 0 {
		parts = append(parts, strings.Join(a.Commands, "/"))
	}
	if a.Nth > 0 {
		parts = append(parts, "nth "+strconv.Itoa(a.Nth))
	}
	return strings.Join(parts, ", ")
}

// Ends is when the fault ends by itself, "" = when it is removed.
func (a armedFault) Ends() string {
	if a.Until == nil {
		return ""
	}
	return a.Until.UTC().Format(timeFormat)
}

func (c *Console) armed(r *http.Request) (list []armedFault, err error) {
	err = c.lab(r.Context(), http.MethodGet, "/faults", nil, &list)
	return list, err
}

func (c *Console) faultsView(r *http.Request) (any, error) {
	armed, err := c.armed(r)
	if err != nil {
		return nil, err
	}
	for i := range armed {
		first := armed[i].First()
		armed[i].Where = first
		if b, ok := c.names.boards[first]; ok {
			armed[i].Where = c.names.place(b.Place.ID) + " · " + b.Name
		}
	}
	disk, err := c.disk(r)
	if err != nil {
		return nil, err
	}
	v := faultsView{Armed: armed, Disk: disk, Chosen: r.URL.Query().Get("fault"), Boards: r.URL.Query()["board"]}
	for _, f := range faults.All {
		word := map[faults.Acts]string{faults.OnCommand: "acts.on.commands", faults.OnLine: "acts.on.line"}[f.Acts]
		if word = cmp.Or(word, "acts.on.board"); len(v.Groups) == 0 || v.Groups[len(v.Groups)-1].Word != word {
			v.Groups = append(v.Groups, faultGroup{Word: word})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Kinds = append(g.Kinds, faultKind{Fault: f, Acts: "acts." + strings.ReplaceAll(string(f.Acts), " ", ""), Commands: f.Acts == faults.OnCommand, Lasts: f.Acts != faults.AtOnce})
	}
	for _, p := range c.cfg.World.Places {
		if p.Kind == "live" {
			v.Places = append(v.Places, choice{p.ID, p.Name})
			for _, b := range p.Boards[:min(len(p.Boards), maxKnown-len(v.Known))] {
				v.Known = append(v.Known, choice{b.ID, c.names.full(b.ID)})
			}
		}
	}
	return v, nil
}

// finite reads a number, of which JSON knows neither NaN nor Inf.
func finite(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, strconv.ErrRange
	}
	return n, err
}

// addFault arms what the form says: the control API judges it.
func (c *Console) addFault(r *http.Request) (Said, error) {
	body := map[string]any{"fault": r.PostFormValue("fault")}
	on := cmp.Or(r.PostFormValue("on"), "boards")
	for _, other := range []struct{ field, own string }{{"boards", r.PostFormValue("filled")}, {"place", ""}, {"share", usualShare}} { // own: what the page itself filled in
		if text := strings.TrimSpace(r.PostFormValue(other.field)); other.field != on && text != "" && text != strings.TrimSpace(other.own) {
			return Said{}, badly("wrong.other", other.field, on)
		}
	}
	switch on {
	case "share":
		share, err := finite(strings.TrimSuffix(strings.TrimSpace(r.PostFormValue("share")), "%"))
		if err != nil || share <= 0 || share > 100 {
			return Said{}, badly("wrong.share")
		}
		body["share"] = share / 100
	case "place":
		body["placeId"] = c.names.placeID(strings.TrimSpace(r.PostFormValue("place")))
	default:
		body["boards"] = c.names.boardIDs(r.PostFormValue("boards"))
	}
	f, _ := faults.Lookup(r.PostFormValue("fault"))
	params := map[string]any{}
	for _, p := range f.Params {
		text := strings.TrimSpace(r.PostFormValue("param." + p.Name))
		n, err := finite(text)
		switch {
		case text == "":
		case len(p.Names) > 0:
			params[p.Name] = text
		case err != nil:
			return Said{}, badly("wrong.param", p.Name)
		default:
			params[p.Name] = n
		}
	}
	if len(params) > 0 {
		body["params"] = params
	}
	if list := r.PostForm["commands"]; len(list) > 0 {
		body["commands"] = list
	}
	if text := strings.TrimSpace(r.PostFormValue("nth")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return Said{}, badly("wrong.nth")
		}
		body["nth"] = n
	}
	if text := strings.TrimSpace(r.PostFormValue("for")); text != "" {
		body["for"] = text
	}
	return Said{Key: "faults.added", Args: []any{f.Name}}, c.lab(r.Context(), http.MethodPost, "/faults", body, nil)
}

func (c *Console) removeFault(r *http.Request) (Said, error) {
	return Said{Key: "faults.removed"}, c.lab(r.Context(), http.MethodDelete, "/faults/"+url.PathEscape(r.PostFormValue("fault")), nil, nil)
}

func (c *Console) resetFaults(r *http.Request) (Said, error) {
	var out struct{ Removed int }
	err := c.lab(r.Context(), http.MethodPost, "/faults/reset", struct{}{}, &out)
	return Said{Key: "faults.reset.said", Args: []any{out.Removed}}, err
}
