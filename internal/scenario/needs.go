package scenario

// lacks says what a file needs and the target has not, "" when all is there.
func (r *run) lacks(f *File) string {
	n := f.Doc.Needs
	u := usesOf(f.Doc.Setup, f.Doc.Steps)
	live, test := 0, 0
	for _, p := range r.target.Places {
		if p.Kind == "test" {
			test++
		} else {
			live++
		}
	}
	boards := 0
	for _, b := range r.dir.boards {
		if b.kind != "test" && b.owner != "" {
			boards++
		}
	}
	switch {
	case (n.Control || u.control) && r.lab == nil:
		return "needs a control listener"
	case (n.Virtual || u.virtual) && (r.lab == nil || r.lab.mode != "virtual"):
		return "needs a virtual clock"
	case (n.Live || n.Places > 0) && live == 0:
		return "needs a live place"
	case live < n.Places:
		return "needs more live places"
	case n.Test && test == 0:
		return "needs a test place"
	case boards < n.Boards:
		return "needs more boards than the target has"
	}
	return ""
}

type needed struct{ control, virtual bool }

// usesOf says what the verbs need.
func usesOf(lists ...[]Step) (u needed) {
	for _, steps := range lists {
		for i := range steps {
			v := &steps[i].Verbs
			u.virtual = u.virtual || v.Clock != nil
			u.control = u.control || v.Clock != nil || v.Present != nil || v.PresentEach != nil || v.Phone != nil || v.Leaf != nil ||
				v.Boards != nil || v.Synced != nil || v.Journal != nil || v.Fault != nil || v.Clear != nil || v.Key != nil ||
				v.Membership != nil || v.Reservation != nil || v.Place != nil || v.Door != nil || v.Control != nil
			for _, in := range []*Steps{v.Parallel, v.Group} {
				if in != nil {
					s := usesOf(*in)
					u.control, u.virtual = u.control || s.control, u.virtual || s.virtual
				}
			}
		}
	}
	return u
}
