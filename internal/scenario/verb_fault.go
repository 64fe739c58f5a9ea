package scenario

import (
	"errors"
	"fmt"
	"strings"
)

func (f *Fault) title() string { return strings.TrimSpace(f.Fault + " " + f.Of.raw) }

// run arms a fault at every listener that has one of the boards.
func (f *Fault) run(x *frame) (fields, error) {
	if x.run.lab == nil || len(x.run.lab.fleet) == 0 {
		return nil, errNoControl
	}
	name, err := f.Name.str(x.scope)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = f.Fault
	}
	body, err := f.body(x)
	if err != nil {
		return nil, err
	}
	per, err := f.targets(x)
	if err != nil {
		return nil, err
	}
	id := ""
	for _, base := range keysOf(per) {
		for k, v := range per[base] {
			body[k] = v
		}
		var got struct {
			FaultID string `json:"faultId"`
		}
		if err := x.run.lab.ask(x.ctx, base, "POST", "/faults", body, &got); err != nil {
			return nil, err
		}
		id = got.FaultID
		x.file.mu.Lock()
		x.file.faults[name] = append(x.file.faults[name], armed{base, id})
		x.file.mu.Unlock()
	}
	return fields{"faultId": id}, nil
}

// targets says what each listener is asked to hit.
func (f *Fault) targets(x *frame) (map[string]map[string]any, error) {
	per := map[string]map[string]any{}
	if f.Share != nil {
		share, err := f.Share.num(x.scope)
		for _, base := range x.run.lab.fleet {
			per[base] = map[string]any{"share": share}
		}
		return per, err
	}
	of, err := x.boards(f.Of)
	if err != nil {
		return nil, err
	}
	lists := map[string][]string{}
	for _, b := range of {
		owner := b.owner
		if owner == "" {
			owner = x.run.lab.fleet[0]
		}
		lists[owner] = append(lists[owner], b.id)
	}
	for base, ids := range lists {
		per[base] = map[string]any{"boards": ids}
	}
	x.res.Detail = fmt.Sprintf("%d boards", len(of))
	return per, nil
}

func (f *Fault) body(x *frame) (map[string]any, error) {
	body := map[string]any{"fault": f.Fault}
	doors, err := x.doorList(f.Doors)
	if err != nil {
		return nil, err
	}
	if doors != nil {
		body["doorIds"] = doors
	}
	if len(f.Commands) > 0 {
		body["commands"] = f.Commands
	}
	if f.Nth != nil {
		body["nth"] = x.count(f.Nth, 0)
	}
	if f.For.set() {
		d, err := f.For.dur(x.scope)
		if err != nil {
			return nil, err
		}
		body["for"] = d.String()
	}
	if len(f.Params) > 0 {
		params := map[string]any{}
		for k := range f.Params {
			if params[k], err = f.Params[k].eval(x.scope); err != nil {
				return nil, err
			}
		}
		body["params"] = params
	}
	return body, nil
}

func (c *Clear) title() string { return c.Name.raw }

// run removes a fault; how often it did something is the result.
func (c *Clear) run(x *frame) (fields, error) {
	if x.run.lab == nil {
		return nil, errNoControl
	}
	name, err := c.Name.str(x.scope)
	if err != nil {
		return nil, err
	}
	x.file.mu.Lock()
	var list []armed
	for n, as := range x.file.faults {
		if n == name || name == "all" {
			list = append(list, as...)
			delete(x.file.faults, n)
		}
	}
	x.file.mu.Unlock()
	if name != "all" && len(list) == 0 {
		return nil, errors.New("no fault called " + name + " is armed")
	}
	hits := 0.0
	for _, a := range list {
		var got struct {
			Hits float64 `json:"hits"`
		}
		if err := x.run.lab.ask(x.ctx, a.base, "DELETE", "/faults/"+esc(a.id), nil, &got); err != nil {
			return nil, err
		}
		hits += got.Hits
	}
	x.res.Detail = fmt.Sprintf("%.0f hits", hits)
	return fields{"hits": hits, "count": len(list)}, nil
}
