package report

// Exchange is a request by a step that didn't pass, and its answer; secrets are masked.
type Exchange struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"` // the path for the public API, the whole URL for a control listener
	Request string            `json:"request,omitempty"`
	Status  int               `json:"status,omitempty"`  // 0: no answer
	Headers map[string]string `json:"headers,omitempty"` // of the answer, as far as they help to understand a failure
	Answer  string            `json:"answer,omitempty"`
	Ms      float64           `json:"ms,omitempty"`
	Error   string            `json:"error,omitempty"` // why there is no answer
	Note    string            `json:"note,omitempty"`  // for a load: when it was due, and how long it took from then
}

// Evidence is a list that was counted in a step that didn't pass; secrets are masked.
type Evidence struct {
	Name  string   `json:"name"`  // records, events, lines, boards ...
	Count int      `json:"count"` // of the whole list
	Items []string `json:"items"` // the first of them, each as JSON
}
