package strictyaml

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// rejoin makes one text again of a list's plain item such as device:door. The parser takes it for a mapping if the list is inside
// { and }, although a colon without a space after it belongs to the text.
type rejoin struct{}

// Visit implements ast.Visitor.
func (rejoin) Visit(n ast.Node) ast.Visitor {
	if list, ok := n.(*ast.SequenceNode); ok && list.IsFlowStyle {
		for i, item := range list.Values {
			if m, ok := item.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) == 1 {
				list.Values[i] = whole(m, m.Values[0])
			}
		}
	}
	return rejoin{}
}

// whole is the text, with its anchor, that was taken for an entry of a mapping, or the mapping itself.
func whole(m *ast.MappingNode, kv *ast.MappingValueNode) ast.Node {
	anchor, anchored := kv.Key.(*ast.AnchorNode)
	key := ast.Node(kv.Key)
	if anchored {
		key = anchor.Value
	}
	text := joined(key, kv.Start, kv.Value)
	switch {
	case text == nil:
		return m
	case anchored:
		anchor.Value = text
		return anchor
	}
	return text
}

// joined is the text of an entry that was written without quotes and without a space after its colon, otherwise nil.
func joined(key ast.Node, colon *token.Token, value ast.Node) ast.Node {
	for _, n := range []ast.Node{key, value} {
		if _, ok := n.(ast.ScalarNode); !ok || quoted(n.GetToken()) {
			return nil
		}
	}
	k, v := key.GetToken(), value.GetToken()
	if v.Position.Line != colon.Position.Line || v.Position.Column != colon.Position.Column+1 {
		return nil
	}
	text := k.Value + ":" + v.Value
	return ast.String(token.New(text, text, k.Position))
}

func quoted(t *token.Token) bool {
	return t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType
}
