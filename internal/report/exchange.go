package report

// Exchange is a request of a step that didn't pass, and its answer; secrets masked.
type Exchange struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"` // of the public API its path, of a control listener the whole
	Request string            `json:"request,omitempty"`
	Status  int               `json:"status,omitempty"`  // 0: no answer
	Headers map[string]string `json:"headers,omitempty"` // of the answer: those that a reader of a failure wants
	Answer  string            `json:"answer,omitempty"`
	Ms      float64           `json:"ms,omitempty"`
	Error   string            `json:"error,omitempty"` // why there is no answer
	Note    string            `json:"note,omitempty"`  // of a load: when it was due, and how long it took from then on
}

// Evidence is a list that a step which didn't pass has counted; secrets masked.
type Evidence struct {
	Name  string   `json:"name"`  // records, events, lines, boards ...
	Count int      `json:"count"` // of the whole list
	Items []string `json:"items"` // the first of them, each as JSON
}
