package binder

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
)

// A Cursor is a position in the journal to resume after.
//
// One event may change several sources of a pattern. Part is how many changes of the event after Seq
// were handed out, with the mode "every".
type Cursor struct {
	Epoch string `json:"epoch"`
	Seq   int64  `json:"seq"`
	Part  int    `json:"part,omitempty"`
}

// An Event is an event of the journal. Version is its position in its stream.
type Event struct {
	Type    string          `json:"type"`
	Stream  string          `json:"stream"`
	Version int64           `json:"version"`
	Time    string          `json:"time"`
	Data    json.RawMessage `json:"data"`
	Cmd     string          `json:"cmd,omitempty"`
	Who     json.RawMessage `json:"who,omitempty"`
}

// An Update is one step of a subscription.
//
// A "snapshot" has the present: Value, Gone, Values of a pattern, or State. A source of the newest
// value sends one again when the client has reconnected; it replaces all before. A "next" has a
// change. "lagged" names removed events in Missed. The other types, "caught_up", "mark", "behind"
// and "paused", have only positions, and a program may ignore them.
type Update struct {
	Type   string `json:"type"`
	Source string `json:"source"`
	// Cursor is the position to store once the update is processed, to resume after it in a new
	// process. It is nil for sources that are not journaled.
	Cursor   *Cursor                    `json:"cursor"`
	Seq      int64                      `json:"seq,omitempty"`
	Value    json.RawMessage            `json:"value,omitempty"`
	Gone     bool                       `json:"gone,omitempty"`
	Values   map[string]json.RawMessage `json:"values,omitempty"`
	Changes  []json.RawMessage          `json:"changes,omitempty"`
	Part     json.RawMessage            `json:"part,omitempty"`
	More     bool                       `json:"more,omitempty"`
	Event    *Event                     `json:"event,omitempty"`
	State    string                     `json:"state,omitempty"`
	Error    *DaemonError               `json:"error,omitempty"`
	Skipped  int64                      `json:"skipped,omitempty"`
	Delivery int                        `json:"delivery,omitempty"`
	Missed   *struct {
		From int64 `json:"from"`
		To   int64 `json:"to"`
	} `json:"missed,omitempty"`
}

const handle = "s"

// A Subscription gives the updates of a source. It has a connection of its own and reads a line
// only when the program has taken the updates before. So a slow program needs no memory: the
// daemon keeps the newest value for it, or feeds events from the journal at its pace.
type Subscription struct {
	client  *Client
	params  Params
	updates chan Update
	err     error

	// Whether the daemon resumes after a position that the client names.
	isPositional bool
	isDurable    bool
	// Whether one event may give several updates.
	isEveryOfPattern bool
	isShared         bool

	// The position after which the subscription resumes: that of the last update handed out.
	cursor *Cursor
	// Changes that the daemon sends again because they are of one event with others.
	repeated int
	pauses   backoff
	mu       sync.Mutex
	current  *connection
	acked    int64
}

// Subscribe subscribes to a source, to a pattern such as "cells/**", or to "events", until the
// context ends or the client is closed.
//
// options are the other parameters of the method "subscribe", for example "filter" or
// "mode": "every". resume continues after a stored cursor, for "events" and with the mode
// "every"; both may be nil.
func (c *Client) Subscribe(
	ctx context.Context, source string, options Params, resume *Cursor,
) (*Subscription, error) {
	s := &Subscription{client: c, cursor: resume, updates: make(chan Update)}
	s.params = Params{}
	for name, value := range options {
		s.params[name] = value
	}
	s.params["source"], s.params["sub"] = source, handle
	_, s.isDurable = options["durable"]
	_, s.isShared = options["share"]
	s.isPositional = (source == "events" || options["mode"] == "every") && !s.isDurable
	s.isEveryOfPattern = options["mode"] == "every" && strings.Contains(source, "*")
	ctx, cancel := context.WithCancel(ctx)
	connection, first, err := s.open(ctx, true)
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer cancel()
		s.run(ctx, connection, first)
	}()
	go func() {
		select {
		case <-c.ctx.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return s, nil
}

// Updates returns the channel of updates. It is closed when the subscription has ended; Err then
// says why.
func (s *Subscription) Updates() <-chan Update { return s.updates }

// Err returns why the subscription has ended, after the channel is closed.
//
// It is a *DaemonError if the daemon has ended it, or refused to resume it because the journal was
// replaced ("epoch_mismatch", "seq_future") or no longer has the events after the cursor
// ("seq_expired"); section 15 of the protocol says what to do then.
func (s *Subscription) Err() error { return s.err }

// Ack acknowledges an event of a durable reader, and those before it.
//
// It does not wait for the answer; a refusal ends the subscription. If the connection is lost, the
// acknowledgement is repeated.
func (s *Subscription) Ack(seq int64) {
	s.mu.Lock()
	if seq > s.acked {
		s.acked = seq
	}
	connection := s.current
	s.mu.Unlock()
	if line, err := connection.encode(1, "ack", Params{"sub": handle, "seq": seq}); err == nil {
		// If it fails, the daemon delivers the event again, and isRepeated repeats the Ack.
		_ = connection.send(s.client.ctx, line)
	}
}

// open connects and subscribes, after the cursor if there is one. It returns the present if that
// is news to the program.
func (s *Subscription) open(ctx context.Context, isFirst bool) (*connection, *Update, error) {
	params := Params{}
	for name, value := range s.params {
		params[name] = value
	}
	if s.isPositional && s.cursor != nil {
		params["from"], params["epoch"] = Params{"after": s.cursor.Seq}, s.cursor.Epoch
		s.repeated = s.cursor.Part
	}
	connection, err := open(ctx, s.client.paths, s.client.name)
	if err != nil {
		return nil, nil, err
	}
	var reply struct {
		Update
		Epoch string
		After *int64
	}
	if err := connection.ask(ctx, "subscribe", params, &reply); err != nil {
		connection.close()
		return nil, nil, err
	}
	s.pauses.reset()
	s.mu.Lock()
	s.current = connection
	s.mu.Unlock()

	last := s.cursor
	var cursor *Cursor
	if reply.Epoch != "" {
		cursor = &Cursor{reply.Epoch, reply.Seq, s.repeated}
		if reply.After != nil {
			cursor.Seq = *reply.After
		}
	}
	// A durable reader resumes after its last Ack, which may be before the cursor.
	if !s.isDurable || last == nil || cursor == nil || last.Epoch != cursor.Epoch {
		s.cursor = cursor
	}
	if last == nil || cursor == nil || last.Epoch != cursor.Epoch {
		s.mu.Lock()
		s.acked = 0
		s.mu.Unlock()
	}
	// Nothing has changed at the same position, unless parts of the value were missing. A pattern may
	// have sources that are not journaled.
	isWhole := !reply.More && reply.Values == nil
	isSame := last != nil && cursor != nil && *last == *cursor && isWhole
	if reply.After != nil || !isFirst && isSame {
		return connection, nil, nil
	}
	reply.Type, reply.Cursor = "snapshot", cursor
	if reply.Source == "" {
		reply.Source = s.params["source"].(string)
	}
	return connection, &reply.Update, nil
}

// run hands out updates until the subscription ends.
func (s *Subscription) run(ctx context.Context, connection *connection, first *Update) {
	defer close(s.updates)
	for {
		err := s.receive(ctx, connection, first)
		connection.close()
		for {
			if err = s.pauses.wait(ctx, err); err != nil {
				if refusal, ok := err.(permanent); ok {
					err = refusal.DaemonError
				} else if ctx.Err() != nil {
					err = ctx.Err()
				}
				s.err = err
				return
			}
			if connection, first, err = s.open(ctx, false); err == nil {
				break
			}
		}
	}
}

// receive hands out the updates of one connection.
func (s *Subscription) receive(ctx context.Context, connection *connection, first *Update) error {
	defer connection.closeWhenDone(ctx)()
	if first != nil {
		if err := s.hand(ctx, *first); err != nil {
			return err
		}
	}
	for {
		f, err := connection.receive()
		if err != nil {
			return err
		}
		if f.Error != nil { // the answer to Ack
			return permanent{f.Error}
		}
		if err := s.take(ctx, f); err != nil {
			return err
		}
	}
}

// take hands out the updates of a notification, or returns why it ends the subscription.
func (s *Subscription) take(ctx context.Context, f *frame) error {
	var params struct {
		Sub    string
		Reason string
		Items  []Update
		Update
	}
	if f.Params == nil || json.Unmarshal(f.Params, &params) != nil || params.Sub != handle {
		return nil
	}
	movesCursor := false
	switch f.Method {
	case "fail":
		return permanent{params.Error}
	case "closed":
		return &SubscriptionClosedError{params.Reason}
	case "next", "caught_up", "mark", "lagged":
		movesCursor = true
	case "behind", "paused":
	default:
		return nil
	}
	updates := params.Items
	if updates == nil {
		updates = []Update{params.Update}
	}
	for _, update := range updates {
		if f.Method == "next" && s.isRepeated(update.Seq) {
			continue
		}
		update.Type, update.Cursor = f.Method, s.cursor
		if update.Source == "" {
			update.Source = s.params["source"].(string)
		}
		if movesCursor && s.cursor != nil && update.Seq > 0 {
			update.Cursor = s.after(f.Method, update.Seq)
		}
		if err := s.hand(ctx, update); err != nil {
			return err
		}
	}
	return nil
}

// after returns the cursor after an update.
func (s *Subscription) after(method string, seq int64) *Cursor {
	switch last := *s.cursor; {
	case method != "next" && seq <= last.Seq:
		// A durable reader that reads again is before its cursor.
		return s.cursor
	case method != "next" || !s.isEveryOfPattern:
		return &Cursor{last.Epoch, seq, 0}
	case last.Part > 0 && seq == last.Seq+1:
		return &Cursor{last.Epoch, last.Seq, last.Part + 1}
	default:
		return &Cursor{last.Epoch, seq - 1, 1}
	}
}

// hand waits until the program takes an update. From then on the subscription resumes after it.
func (s *Subscription) hand(ctx context.Context, update Update) error {
	select {
	case s.updates <- update:
		s.cursor = update.Cursor
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isRepeated returns whether the program has a change already. A durable reader gets an event again
// if an Ack was lost.
func (s *Subscription) isRepeated(seq int64) bool {
	if s.repeated > 0 && s.cursor != nil {
		s.repeated--
		if seq == s.cursor.Seq+1 {
			return true
		}
		s.repeated = 0
	}
	if !s.isDurable || s.isShared || s.cursor == nil || seq > s.cursor.Seq {
		return false
	}
	s.mu.Lock()
	acked := s.acked
	s.mu.Unlock()
	if seq <= acked {
		s.Ack(seq)
	}
	return true
}

// permanent is an error of the daemon after which a subscription does not resume.
type permanent struct{ *DaemonError }
