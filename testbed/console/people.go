package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/why"
)

// asked shows the page with an explanation. It is asked for by a form, because a phone or a link in an address would stay
// in the browser's history.
func (c *Console) asked(r *http.Request) (Said, error) {
	v, err := c.people(r)
	return Said{Show: v}, err
}

type peopleView struct {
	Place    string
	Places   []choice
	Doors    []choice
	Door     string
	Picked   bool // Door was asked for
	At       string
	Grants   []personGrant
	Total    int64            // of grants; the latest are shown
	Why      *why.Explanation // nil = nothing was asked
	Trouble  string           // what was wrong about the question
	Exposure []why.Exposed
	Unread   string // why there is no Exposure
}

// Unknown reports whether nobody knows whom the explanation is about.
func (v peopleView) Unknown() bool { return v.Why.Person == nobody }

// DoorName is a door as people call it.
func (v peopleView) DoorName(id string) string {
	for _, d := range v.Doors {
		if d.ID == id && d.Name != "" {
			return d.Name
		}
	}
	return id
}

// After is how long after the change somebody entered; "" = not known.
func (v peopleView) After(x why.Exposed) string {
	if x.ExposedSec == nil {
		return ""
	}
	return span(time.Duration(*x.ExposedSec * float64(time.Second)))
}

// personGrant is one of the control API's grants.
type personGrant struct{ control.Grant }

// Linked reports whether it has a link that may still work.
func (g personGrant) Linked() bool { return g.Kind == "permit" && g.State != "revoked" }

// DoorFor is the door at which a grant is tried: the one that was chosen, or the first for which the grant is good.
func (v peopleView) DoorFor(g personGrant) string {
	if v.Picked || len(g.DoorIDs) == 0 || slices.Contains(g.DoorIDs, v.Door) {
		return v.Door
	}
	return g.DoorIDs[0]
}

// Class colours the state; the word stands in it.
func (g personGrant) Class() string {
	switch g.State {
	case "active", "valid":
		return "ok"
	case "pending", "not_started":
		return "wait"
	}
	return "bad"
}

// KindWord is the key of its kind.
func (g personGrant) KindWord() string { return "people." + g.Kind }

// StateWord is the key of its state.
func (g personGrant) StateWord() string { return "state." + g.State }

func (c *Console) people(r *http.Request) (any, error) {
	q := r.URL.Query()
	v := peopleView{Door: cmp.Or(r.PostFormValue("door"), q.Get("door")), At: r.PostFormValue("at")}
	v.Place, v.Places = c.placeOf(r)
	if p := c.names.places[v.Place]; p != nil {
		for _, b := range p.Boards {
			for _, d := range b.Doors {
				v.Doors = append(v.Doors, choice{d.ID, c.names.door(d.ID)})
			}
		}
	}
	v.Picked = v.Door != ""
	if !v.Picked && len(v.Doors) > 0 {
		v.Door = v.Doors[0].ID
	}
	for _, kind := range []string{"permit", "reservation", "membership"} {
		var list []personGrant
		total, err := c.control().List(r.Context(), control.Prefix+"/grants?limit=100&kind="+kind+"&placeId="+url.QueryEscape(v.Place), &list)
		if err != nil {
			return nil, err
		}
		v.Grants, v.Total = append(v.Grants, list...), v.Total+int64(total)
	}
	if streams(r) { // only the grants are kept up to date: the rest reads the whole recording
		return v, nil
	}
	if err := c.lab(r.Context(), http.MethodGet, "/exposure?placeId="+url.QueryEscape(v.Place), nil, &v.Exposure); err != nil {
		v.Unread = err.Error() // a person can be tried all the same
	}
	switch person := r.PostFormValue("person"); {
	case person != "":
		name := "link"
		phone, token := client.Person(person)
		if phone != "" {
			name = "phone"
		}
		c.explain(r, &v, name, cmp.Or(phone, token))
	case q.Has("line"):
		if c.explain(r, &v, "journalSeq", q.Get("line")); v.Why == nil && q.Has("grant") { // the recording may be younger
			c.explain(r, &v, "grantId", q.Get("grant"))
		}
		if v.Why != nil && v.Why.Person == nobody { // the server has no grant of theirs, but their board has said who they were
			v.Why.Person = cmp.Or(c.cfg.Feed.who(v.Door, q.Get("line")), nobody)
		}
	case q.Has("grant"):
		c.explain(r, &v, "grantId", q.Get("grant"))
	}
	return v, nil
}

// nobody is how the control API shows a person without a known phone.
var _, nobody = access.MaskPhone("")

// whyPage is the address of the page that explains an entry: by the line of the board's journal that it led to, or by the
// grant that it was about. "" = neither is known, and the row itself says all there is to say.
func whyPage(placeID, doorID, grantID string, line int64) string {
	ask := url.Values{"place": {placeID}, "door": {doorID}}
	if grantID != "" {
		ask.Set("grant", grantID)
	}
	if line != 0 {
		ask.Set("line", strconv.FormatInt(line, 10))
	}
	if len(ask) == 2 {
		return ""
	}
	return "/people?" + ask.Encode() + "#why"
}

// explain asks why somebody gets in or doesn't; what is wrong about the question is said on the page.
func (c *Console) explain(r *http.Request, v *peopleView, by, who string) {
	ask := url.Values{"placeId": {v.Place}, "doorId": {v.Door}, by: {who}}
	if v.At != "" {
		ask.Set("at", v.At)
	}
	var x why.Explanation
	if err := c.lab(r.Context(), http.MethodGet, "/why?"+ask.Encode(), nil, &x); err != nil {
		v.Trouble = err.Error()
		return
	}
	v.Why, v.Trouble = &x, ""
}
