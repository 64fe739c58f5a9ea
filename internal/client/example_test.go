package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/doorlab/doorlab/internal/client"
)

// Do unpacks the envelope: it returns the data or an *Error.
func ExampleClient_Do() {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/device/v1/devices/dor_1" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":"device_not_found","message":"no such door","statusCode":404}`)
			return
		}
		fmt.Fprint(w, `{"success":true,"data":{"id":"dor_1","name":"Front"}}`)
	})
	c := client.Client{Base: "http://lab", HTTP: client.Inside(api)}

	var door struct{ Name string }
	err := c.Do(context.Background(), http.MethodGet, "/device/v1/devices/dor_1", nil, &door)
	fmt.Println(door.Name, err)

	err = c.Do(context.Background(), http.MethodGet, "/device/v1/devices/dor_9", nil, &door)
	var failed *client.Error
	fmt.Println(errors.As(err, &failed), err)
	// Output:
	// Front <nil>
	// true no such door (404 device_not_found)
}
