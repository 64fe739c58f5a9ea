package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Asks checks a request against the document: the headers and the query that the operation needs, and its body. What the
// document doesn't allow is refused whoever asks for it. Of paths and methods that no document has nothing is known.
func (c *Contract) Asks(method, path string, header map[string]string, body []byte) error {
	if c == nil {
		return nil
	}
	op := c.find(method, path)
	if op == nil {
		return nil
	}
	_, query, _ := strings.Cut(path, "?")
	given, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the query is malformed")
	}
	for _, p := range op.Parameters {
		if p.Value == nil {
			continue
		}
		if err := parameter(p.Value, header, given); err != nil {
			return err
		}
	}
	return content(op, body)
}

// parameter checks a header or a part of the query; a part of the path is there if the path is the operation's.
func parameter(p *openapi3.Parameter, header map[string]string, given url.Values) error {
	text, there := "", false
	switch p.In {
	case openapi3.ParameterInHeader:
		for k, v := range header {
			if strings.EqualFold(k, p.Name) && v != "" {
				text, there = v, true
			}
		}
	case openapi3.ParameterInQuery:
		text, there = given.Get(p.Name), given.Has(p.Name)
	default:
		return nil
	}
	switch {
	case !there && p.Required:
		return fmt.Errorf("%s is missing", p.Name)
	case !there || p.Schema == nil || p.Schema.Value == nil || p.Schema.Value.Type.Is("array"):
		return nil
	}
	value := any(text)
	if p.Schema.Value.Type.Is("integer") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%s is not a number", p.Name)
		}
		value = n
	}
	if p.Schema.Value.VisitJSON(value) != nil {
		return fmt.Errorf("%s is not what the document allows", p.Name)
	}
	return nil
}

func content(op *openapi3.Operation, body []byte) error {
	if op.RequestBody == nil || op.RequestBody.Value == nil {
		return nil
	}
	media := op.RequestBody.Value.Content.Get("application/json")
	if len(body) == 0 && !op.RequestBody.Value.Required || media == nil || media.Schema == nil {
		return nil
	}
	var v any
	if json.Unmarshal(body, &v) != nil || media.Schema.Value.VisitJSON(v, openapi3.VisitAsRequest()) != nil {
		return errors.New("its body is not what the document allows")
	}
	return nil
}

// Scope is the scope that the operation needs, as our documents name it; "" if it needs none, any, or nobody says.
func (c *Contract) Scope(method, path string) string {
	if c == nil {
		return ""
	}
	op := c.find(method, path)
	if op == nil {
		return ""
	}
	scope, _ := op.Extensions[scopeOf].(string)
	if scope == "none" || scope == "any" {
		return ""
	}
	return scope
}
