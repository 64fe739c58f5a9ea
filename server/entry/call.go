package entry

import "context"

// Call is a phone call from a caller id to a number. The number names the
// place, the caller id the person; the first entry door in the scope of a valid
// grant opens, else the first whose window is free. Errors: the Executor's
// and the store's only; a refusal is a result.
func (s *Service) Call(ctx context.Context, to, from string) (CallResult, error) { panic("soon") }
