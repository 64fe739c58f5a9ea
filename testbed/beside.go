package testbed

import (
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/server"
)

// Renewal says which secrets of a data directory to renew; Renewed counts them.
type (
	Renewal = server.Renewal
	Renewed = server.Renewed
)

// Renew replaces secrets of a data directory, whether or not a server is running on it. Errors: as server.Renew.
func Renew(dir string, r Renewal) (Renewed, error) {
	n, err := server.Renew(dir, r)
	return n, ofDir(dir, err)
}

// Beside gives access to the keys and boards of a data directory, whether or not a server is running on it, through the
// control API's routes for them. Errors: as server.Beside.
func Beside(dir string) (client.Client, func() error, error) {
	token := newToken()
	h, stop, err := server.Beside(dir, token)
	if err != nil {
		return client.Client{}, nil, ofDir(dir, err)
	}
	return client.Client{Base: "http://beside", Token: token, HTTP: client.Inside(h)}, stop, nil
}
