// Package binder is a client for binderd, the daemon that keeps the live state of a machine.
//
//	client, err := binder.Dial(ctx, binder.Options{Name: "porch"})
//	seq, err := client.Set(ctx, "cells/lamp", true)
//	lamp, err := client.Subscribe(ctx, "cells/lamp", nil, nil)
//	for update := range lamp.Updates() {
//		fmt.Println(update.Cursor, string(update.Value))
//	}
//	err = lamp.Err()
//
// The client reconnects by itself. A subscription then resumes after the last position that it
// has handed out, without a gap. A command that was in flight is sent again with the same
// idempotency key, so that it takes effect once.
package binder

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"sort"
	"strconv"
	"sync"
)

// maxInFlight is the most calls that wait for an answer at a time; further ones wait until one is
// answered.
const maxInFlight = 256

// Params are the parameters of a method, by name.
type Params map[string]any

// Options are the options of Dial.
type Options struct {
	// Path is that of the socket; if it is empty the environment decides, as for bindctl.
	Path string
	// Name is shown to the administrator.
	Name string
}

// A Client is a client of one daemon. Several goroutines may use it at a time.
//
// Calls share a connection; each subscription has one of its own, so a slow reader delays nobody
// else.
type Client struct {
	paths []string
	name  string
	ctx   context.Context
	end   context.CancelFunc
	slots chan struct{}

	mu       sync.Mutex
	current  *connection   // nil while there is none
	changed  chan struct{} // closed when current or failure has changed
	failure  error         // why the client does not connect again
	requests map[int64]*request
	lastID   int64
}

// A request is a call that waits for its answer.
type request struct {
	line         []byte
	epoch        string
	isRepeatable bool
	answer       chan answer // has room for one
}

type answer struct {
	result json.RawMessage
	err    error
}

func (r *request) finish(result json.RawMessage, err error) {
	select {
	case r.answer <- answer{result, err}:
	default: // it has one
	}
}

// Dial connects to the daemon. It fails with a *ConnectionFailedError if no daemon answers. The
// context limits only the time to connect.
func Dial(ctx context.Context, options Options) (*Client, error) {
	paths, name := socketPaths(options.Path), options.Name
	if name == "" {
		name = "go"
	}
	first, err := open(ctx, paths, name)
	if err != nil {
		return nil, err
	}
	c := &Client{
		paths:    paths,
		name:     name,
		slots:    make(chan struct{}, maxInFlight),
		changed:  make(chan struct{}),
		requests: map[int64]*request{},
	}
	c.ctx, c.end = context.WithCancel(context.Background())
	go c.run(first)
	return c, nil
}

// Call calls a method and decodes its result into result, unless that is nil.
//
// It fails with a *DaemonError if the daemon refuses, and with a *ConnectionLostError if the
// connection is lost before the answer. While there is no connection, a call waits for one until
// its context ends. Options, such as "expect", are members of "_meta" in params.
func (c *Client) Call(ctx context.Context, method string, params Params, result any) error {
	return c.call(ctx, method, params, false, result)
}

// Command calls a method that changes something, so that it takes effect exactly once. If the
// connection is lost, it is sent again with the same random idempotency key.
func (c *Client) Command(ctx context.Context, method string, params Params, result any) error {
	var key [16]byte
	if _, err := rand.Read(key[:]); err != nil {
		return err
	}
	return c.CommandWithKey(ctx, hex.EncodeToString(key[:]), method, params, result)
}

// CommandWithKey is Command with an idempotency key of the program, which may repeat the command
// with it after its own restart.
func (c *Client) CommandWithKey(
	ctx context.Context, key, method string, params Params, result any,
) error {
	keyed, meta := Params{}, Params{}
	for name, value := range params {
		keyed[name] = value
	}
	if given, ok := params["_meta"].(Params); ok {
		for name, value := range given {
			meta[name] = value
		}
	}
	meta["cmd"] = key
	keyed["_meta"] = meta
	return c.call(ctx, method, keyed, true, result)
}

// Get decodes the current value of a source into value.
func (c *Client) Get(ctx context.Context, source string, value any) error {
	result := struct{ Value any }{value}
	return c.Call(ctx, "get", Params{"source": source}, &result)
}

// Set sets a source, exactly once, and returns the position of the change.
func (c *Client) Set(ctx context.Context, source string, value any) (seq int64, err error) {
	var result struct{ Seq int64 }
	err = c.Command(ctx, "set", Params{"source": source, "value": value}, &result)
	return result.Seq, err
}

// Close ends the connection. Calls that wait fail with ErrClosed.
func (c *Client) Close() { c.end() }

func (c *Client) call(
	ctx context.Context, method string, params Params, isRepeatable bool, result any,
) error {
	if params == nil {
		params = Params{}
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	id, r, connection, err := c.register(ctx, method, params, isRepeatable)
	if err != nil {
		return err
	}
	defer c.forget(id)
	// If it fails, the reader notices it too, and decides about all calls.
	_ = connection.send(ctx, r.line)
	select {
	case answer := <-r.answer:
		if answer.err != nil || result == nil {
			return answer.err
		}
		return json.Unmarshal(answer.result, result)
	case <-ctx.Done():
		// An asynchronous call, such as wait, would otherwise go on in the daemon.
		if line, err := connection.encode(-1, "cancel", Params{"id": id}); err == nil {
			_ = connection.send(c.ctx, line)
		}
		return ctx.Err()
	}
}

// register waits for a connection and notes a request that will be sent on it.
func (c *Client) register(
	ctx context.Context, method string, params Params, isRepeatable bool,
) (int64, *request, *connection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.current == nil && c.failure == nil {
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		c.mu.Lock()
		if ctx.Err() != nil {
			return 0, nil, nil, ctx.Err()
		}
	}
	if c.failure != nil {
		return 0, nil, nil, c.failure
	}
	c.lastID++
	line, err := c.current.encode(c.lastID, method, params)
	r := &request{line, c.current.epoch, isRepeatable, make(chan answer, 1)}
	if err == nil {
		c.requests[c.lastID] = r
	}
	return c.lastID, r, c.current, err
}

func (c *Client) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, id)
}

// run passes answers on, and connects again, until an error that does not pass.
func (c *Client) run(connection *connection) {
	var pauses backoff
	for {
		err := c.serve(connection, &pauses)
		c.change(nil, nil)
		connection.close()
		for _, r := range c.waiting() {
			if !r.isRepeatable {
				r.finish(nil, err)
			}
		}
		for {
			if err = pauses.wait(c.ctx, err); err == nil {
				connection, err = open(c.ctx, c.paths, c.name)
				if err == nil {
					break
				}
				continue
			}
			if c.ctx.Err() != nil {
				err = ErrClosed
			}
			c.change(nil, err)
			for _, r := range c.waiting() {
				r.finish(nil, err)
			}
			return
		}
	}
}

// serve sends commands again that were not answered, with the same key, and receives answers
// until the connection is lost.
func (c *Client) serve(connection *connection, pauses *backoff) error {
	defer connection.closeWhenDone(c.ctx)()
	waiting := c.waiting()
	for _, r := range waiting {
		if r.epoch != connection.epoch {
			r.finish(nil, ErrOutcomeUnknown)
		} else if err := connection.send(c.ctx, r.line); err != nil {
			return err
		}
	}
	// Not for hello: the daemon may fail at the commands that were sent again.
	if len(waiting) == 0 {
		pauses.reset()
	}
	c.change(connection, nil)
	for {
		frame, err := connection.receive()
		if err != nil {
			return err
		}
		c.take(frame)
		if frame.ID != nil && frame.Error == nil {
			pauses.reset()
		}
	}
}

// take passes an answer to its call. Notifications are for subscriptions, and ignored here.
func (c *Client) take(f *frame) {
	if f.ID == nil {
		return
	}
	id, err := strconv.ParseInt(string(f.ID), 10, 64)
	if err != nil && f.Error != nil {
		// The daemon could not read the id of a line, so that any call may be meant.
		for _, r := range c.waiting() {
			r.finish(nil, f.Error)
		}
		return
	}
	c.mu.Lock()
	r := c.requests[id]
	c.mu.Unlock()
	switch {
	case r == nil:
	case f.Error == nil:
		r.finish(f.Result, nil)
	case f.Error.Name != "shutting_down" || !r.isRepeatable:
		r.finish(nil, f.Error)
	}
}

// change sets the connection for calls, or why there will be none.
func (c *Client) change(connection *connection, failure error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.failure = connection, failure
	close(c.changed)
	c.changed = make(chan struct{})
}

// waiting returns the requests without an answer in the order in which they were sent.
func (c *Client) waiting() []*request {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]int64, 0, len(c.requests))
	for id := range c.requests {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	requests := make([]*request, len(ids))
	for i, id := range ids {
		requests[i] = c.requests[id]
	}
	return requests
}
