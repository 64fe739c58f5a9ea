package entry

import "context"

// Link is the page of an entry link; it opens nothing. Errors (*rule.Error):
// link_invalid; the store's.
func (s *Service) Link(token string) (LinkView, error) { panic("soon") }

// Open presses the button of a door. Denials and limits are errors
// (*rule.Error): link_invalid, device_not_found, entry_denied with
// details.rule, rate_limited with RetryAfter; the outcome of a sent command is
// a result, see OpenResult.Err. Else the Executor's and the store's errors.
func (s *Service) Open(ctx context.Context, token, doorID string) (OpenResult, error) { panic("soon") }
