package testbed

import (
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/server/api/openapi"
)

// Contract is what this program's server publishes, for callers without a server. An error means that our documents
// can't be read: a bug of ours.
func Contract() (*contract.Contract, error) {
	docs, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	return contract.Read(func(path string) ([]byte, error) {
		for _, d := range docs {
			if strings.HasPrefix(path, "/"+d.Name+"/") {
				return d.JSON, nil
			}
		}
		return nil, fmt.Errorf("no document is published at %s", path)
	})
}
