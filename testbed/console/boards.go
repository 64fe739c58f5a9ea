package console

import (
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/world"
)

// Phases of the map by their word, with the letter of the class of a square.
var phases = []struct{ word, letter string }{
	{"online", "o"}, {"lag", "l"}, {"grace", "g"}, {"outage", "u"}, {"stopped", "s"}, {"detached", "d"}, {"offline", "f"}, {"unknown", "n"},
}

// slow is when a board that lacks a change starts to be shown as behind.
const slow = 2 * time.Second

// Word is the word that the map has for the board.
func (b Board) Word() string {
	switch {
	case b.Detached:
		return "detached"
	case b.Online && b.Behind >= slow:
		return "lag"
	case b.Online:
		return "online"
	}
	return b.Phase
}

func letter(word string) string {
	for _, p := range phases {
		if p.word == word {
			return p.letter
		}
	}
	return "n"
}

type boardsView struct {
	Query, Phase, Place, Lag string
	Phases                   []phaseCount
	Places                   []choice
	Groups                   []group
	Dense                    bool
	Sum                      string // of the boards on the map, in their order
	Rows                     []boardRow
	Found, From, To, Page    int64
	Previous, Next           string
}

type phaseCount struct {
	Word   string // key
	Value  string
	Letter string
	Count  string
}

// group is a place with its squares.
type group struct {
	ID, Name string
	Squares  []square
}

type square struct {
	ID, Letter, Name string
}

type boardRow struct {
	ID, Name, Place, PlaceID string
	Word, Letter             string
	Age, Behind              string
}

// pageRows is how many rows the table shows, manyPlaces from when on the map
// leaves the names of places out: thousands of squares on one screen.
const (
	pageRows   = 100
	manyPlaces = 60
)

func (c *Console) boards(r *http.Request) (any, error) {
	q := r.URL.Query()
	v := boardsView{Query: strings.TrimSpace(q.Get("q")), Phase: q.Get("phase"), Place: q.Get("place"), Lag: q.Get("lag")}
	v.Places = c.places()
	least, _ := time.ParseDuration(v.Lag)
	if n, err := strconv.ParseFloat(v.Lag, 64); err == nil {
		least = time.Duration(n * float64(time.Second))
	}
	counts := map[string]int64{}
	var found []Board
	for _, b := range c.cfg.Boards() {
		counts[b.Word()]++
		if v.matches(b, c.names.boards[b.ID], least) {
			found = append(found, b)
		}
	}
	for _, p := range phases {
		if counts[p.word] > 0 || p.word == v.Phase {
			v.Phases = append(v.Phases, phaseCount{Word: "phase." + p.word, Value: p.word, Letter: p.letter, Count: amount.Number(counts[p.word])})
		}
	}
	v.group(c.names, found)
	v.rows(c.names, found, q)
	return v, nil
}

func (v *boardsView) matches(b Board, n named, least time.Duration) bool {
	if v.Phase != "" && b.Word() != v.Phase || v.Place != "" && b.PlaceID != v.Place || b.Behind < least {
		return false
	}
	text := strings.ToLower(v.Query)
	if text == "" || strings.Contains(strings.ToLower(b.ID), text) || strings.Contains(strings.ToLower(n.Name), text) {
		return true
	}
	return n.Place != nil && strings.Contains(strings.ToLower(n.Place.Name), text) || slices.ContainsFunc(n.Doors, func(d world.Door) bool {
		return strings.Contains(strings.ToLower(d.ID), text) || strings.Contains(strings.ToLower(d.Name), text)
	})
}

// group puts the squares of a place together.
func (v *boardsView) group(n names, found []Board) {
	for _, b := range found {
		if len(v.Groups) == 0 || v.Groups[len(v.Groups)-1].ID != b.PlaceID {
			v.Groups = append(v.Groups, group{ID: b.PlaceID, Name: n.place(b.PlaceID)})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Squares = append(g.Squares, square{ID: b.ID, Letter: letter(b.Word()), Name: n.boards[b.ID].Name})
	}
	sum := fnv.New64a()
	for _, b := range found {
		_, _ = io.WriteString(sum, b.ID+" ")
	}
	v.Sum = strconv.FormatUint(sum.Sum64(), 36)
	v.Dense = len(v.Groups) > manyPlaces
}

// code is the map as its script reads it: which boards, and one letter for each.
func (v boardsView) code() string {
	var b strings.Builder
	b.WriteString(v.Sum + ":")
	for _, g := range v.Groups {
		for _, s := range g.Squares {
			b.WriteString(s.Letter)
		}
	}
	return b.String()
}

// rows is one page of the table.
func (v *boardsView) rows(n names, found []Board, q map[string][]string) {
	page := 1
	if p := q["page"]; len(p) > 0 {
		page, _ = strconv.Atoi(p[0])
	}
	page = min(max(page, 1), max(1, (len(found)+pageRows-1)/pageRows))
	from, to := (page-1)*pageRows, min(page*pageRows, len(found))
	v.Found, v.From, v.To, v.Page = int64(len(found)), int64(min(from+1, to)), int64(to), int64(page)
	link := func(p int) string {
		u := map[string][]string{}
		maps.Copy(u, q)
		u["page"] = []string{strconv.Itoa(p)}
		return "/boards?" + encode(u)
	}
	if page > 1 {
		v.Previous = link(page - 1)
	}
	if to < len(found) {
		v.Next = link(page + 1)
	}
	v.Rows = each.Of(found[from:to], n.row)
}

func (n names) row(b Board) boardRow {
	return boardRow{ID: b.ID, Name: n.boards[b.ID].Name, Place: n.place(b.PlaceID), PlaceID: b.PlaceID, Word: "phase." + b.Word(), Letter: letter(b.Word()),
		Age: age(b.OutageAge, b.Online), Behind: behind(b.Behind)}
}

// age is how long a board has been offline; "" while it is online.
func age(d time.Duration, online bool) string {
	switch {
	case online:
		return ""
	case d < 0:
		return "?"
	}
	return span(d.Truncate(time.Second))
}

func behind(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return span(d)
}
