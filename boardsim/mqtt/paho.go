package mqtt

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
)

// pahoClient is the reference.
type pahoClient struct {
	c       paho.Client
	timeout time.Duration
}

func newPaho(c Config) *pahoClient {
	o := paho.NewClientOptions().AddBroker("tcp://doorlab").SetProtocolVersion(4).SetCleanSession(true).
		SetClientID(c.BoardID).SetUsername(c.BoardID).SetPassword(c.Password).
		SetKeepAlive(c.KeepAlive).SetPingTimeout(c.PingTimeout).SetConnectTimeout(c.Answer).SetWriteTimeout(c.WriteTimeout).
		SetAutoReconnect(false).SetConnectRetry(false).SetOrderMatters(true).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return c.Conn, nil }).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { c.Receive(m.Topic(), m.Payload()) }).
		SetConnectionLostHandler(func(_ paho.Client, err error) { c.Lost(silence(err)) })
	return &pahoClient{paho.NewClient(o), c.Answer}
}

// silence recognizes ErrSilent by paho's error texts.
func silence(err error) error {
	if strings.Contains(err.Error(), "pingresp") || strings.Contains(err.Error(), "timeout") {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return err
}

// Connect implements Client.
func (p *pahoClient) Connect(topics []string) error {
	switch err := p.await(p.c.Connect()); {
	case errors.Is(err, packets.ErrorRefusedBadUsernameOrPassword), errors.Is(err, packets.ErrorRefusedNotAuthorised):
		return ErrLogin
	case err != nil:
		return err
	}
	filters := map[string]byte{}
	for _, t := range topics {
		filters[t] = 0
	}
	t := p.c.SubscribeMultiple(filters, nil)
	if err := p.await(t); err != nil {
		return err
	}
	for topic, code := range t.(*paho.SubscribeToken).Result() {
		if code > 2 {
			return fmt.Errorf("%w: subscription to %s: %#x", ErrRefused, topic, code)
		}
	}
	return nil
}

func (p *pahoClient) await(t paho.Token) error {
	if !t.WaitTimeout(p.timeout) {
		return ErrTimeout
	}
	return t.Error()
}

// Publish implements Client.
func (p *pahoClient) Publish(topic string, payload []byte) { p.c.Publish(topic, 0, false, payload) }

// Close implements Client.
func (p *pahoClient) Close() {
	if p.c.IsConnectionOpen() {
		p.c.Disconnect(0)
	}
}
