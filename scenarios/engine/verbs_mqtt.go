package engine

// MQTT speaks to the broker by hand, in the place of a simulated board. One step connects, subscribes, sends, waits and
// closes, in this order, as far as it says.
type MQTT struct {
	As        Name     `json:"as,omitempty" jsonschema:"description=Name of the connection; default hand"`
	Board     Ref      `json:"board,omitempty" jsonschema:"description=Connect in the place of this board, which is detached until the file ends"`
	Connect   *Connect `json:"connect,omitempty" jsonschema:"description=How the CONNECT differs from a good board's"`
	Connack   *Num     `json:"connack,omitempty" jsonschema:"description=Expected code of the CONNACK; default 0, accepted"`
	Subscribe *[]Text  `json:"subscribe,omitempty" jsonschema:"description=Channels or topics; by default the four down channels"`
	Auto      []string `json:"auto,omitempty" jsonschema:"enum=sync,enum=page,enum=cmd,enum=cfg,description=Answer these messages at once as a good board would, without doing anything; with page the pages of a change are joined to one message"`
	Send      Text     `json:"send,omitempty" jsonschema:"description=Publish to this channel or topic"`
	Payload   *Any     `json:"payload,omitempty" jsonschema:"description=The message, as JSON"`
	Raw       *Text    `json:"raw,omitempty" jsonschema:"description=The message, as it is"`
	QoS       *Num     `json:"qos,omitempty" jsonschema:"description=0, 1 or 2; default 0"`
	Retain    bool     `json:"retain,omitempty" jsonschema:"description=Set the retain flag"`
	Await     string   `json:"await,omitempty" jsonschema:"enum=cmd,enum=sync,enum=cfg,enum=ack,enum=end,description=Wait for the next message of this channel that fits where; end waits for the server to close the connection"`
	Where     *Expr    `json:"where,omitempty" jsonschema:"description=Which message counts: an expression over payload, topic and retained"`
	Quiet     string   `json:"quiet,omitempty" jsonschema:"enum=cmd,enum=sync,enum=cfg,enum=ack,enum=end,description=No such message may come"`
	For       *Dur     `json:"for,omitempty" jsonschema:"description=How long await and quiet last (wall time); default 10s and 300ms"`
	Close     string   `json:"close,omitempty" jsonschema:"enum=disconnect,enum=drop,description=End the connection, with or without a DISCONNECT"`
}

// Connect is what CONNECT says; what is left out is right.
type Connect struct {
	ClientID  *Text `json:"clientId,omitempty" jsonschema:"description=Instead of the board's id"`
	Username  *Text `json:"username,omitempty" jsonschema:"description=Instead of the board's id"`
	Password  *Text `json:"password,omitempty" jsonschema:"description=Instead of the board's password"`
	KeepAlive *Num  `json:"keepAlive,omitempty" jsonschema:"description=Seconds; default 30"`
	Kept      bool  `json:"kept,omitempty" jsonschema:"description=Ask for a session that outlasts the connection"`
	Silent    bool  `json:"silent,omitempty" jsonschema:"description=Don't send the pings that keep the connection alive"`
	Level     *Num  `json:"level,omitempty" jsonschema:"description=Protocol level; default 4, which is MQTT 3.1.1"`
	Will      *Will `json:"will,omitempty" jsonschema:"description=A last will"`
}

// Will is what the broker is asked to publish when the connection ends.
type Will struct {
	Topic Text `json:"topic" jsonschema:"required,description=Channel or topic"`
	Raw   Text `json:"raw,omitempty" jsonschema:"description=Its payload"`
}
