// Package mqtt is a board's MQTT 3.1.1 client, one per connection, in two versions: paho, the reference, and light, for
// large fleets. boardsim uses it; its bytes go over the board's line. One suite holds both versions to the same
// behaviour.
package mqtt

import (
	"errors"
	"net"
	"time"
)

// Names of the clients.
const (
	Paho  = "paho"  // github.com/eclipse/paho.mqtt.golang
	Light = "light" // the broker's packet codec; over a memory link no goroutine waits for it
)

// Config of a client. All fields are required.
type Config struct {
	Conn      net.Conn // a *link.Line or what embeds one; a Write of it is one packet
	BoardID   string   // client id and user name
	Password  string
	KeepAlive time.Duration // whole seconds
	// PingTimeout is how long the server may take to answer a ping, WriteTimeout how long the line may take to accept a
	// packet, and Answer how long the server may take to answer CONNECT and SUBSCRIBE, each.
	PingTimeout, WriteTimeout, Answer time.Duration
	// Receive is called for each message, in order and one at a time. The payload is
	// valid during the call.
	Receive func(topic string, payload []byte)
	// Lost is called, at most once, if the connection ends other than by Close, possibly also after Connect has
	// returned an error. ErrSilent: the server was no longer heard.
	Lost func(error)
	// Go runs a function on another goroutine without waiting for it.
	Go func(func())
}

// Client is one connection of a board.
type Client interface {
	// Connect sends CONNECT and SUBSCRIBE (QoS 0) and returns when both are granted.
	Connect(topics []string) error
	// Publish sends a message with QoS 0. Failures are reported through Lost.
	Publish(topic string, payload []byte)
	// Close sends DISCONNECT. It doesn't close the connection.
	Close()
}

// Errors of Connect and Lost.
var (
	ErrSilent  = errors.New("mqtt: the server is silent")
	ErrTimeout = errors.New("mqtt: the server does not answer")
	ErrRefused = errors.New("mqtt: refused by the server")
	ErrLogin   = errors.New("mqtt: the server refuses the board's name or password")
)

// New returns the client of that name; any name but Light means Paho.
func New(name string, c Config) Client {
	if name == Light {
		return newLight(c)
	}
	return newPaho(c)
}
