package binder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxMessage is the longest message of an error, in bytes.
const maxMessage = 500

// maxReplies is the number of replies kept for calls that the daemon may deliver again.
const maxReplies = 256

// A Provider is a service that is provided, until it is closed or the daemon refuses it.
//
// If the connection is lost, it provides the service again. A queued call that it works on, or has
// answered without a receipt, is not run twice: when the daemon delivers it again, it gets the
// answer. Direct calls have ended with the connection.
type Provider struct {
	open    func(context.Context) (*connection, error)
	service Service
	jobs    int
	ctx     context.Context
	end     context.CancelFunc
	done    chan struct{} // closed when the provider has ended

	mu        sync.Mutex
	current   *connection   // nil while there is none
	changed   chan struct{} // closed when something has changed
	err       error         // why it has ended
	isClosing bool
	isOver    bool
	lastID    int64
	answers   map[int64]func(*frame, error)
	waiting   []*delivered        // the calls that do not run yet
	running   map[*delivered]bool // those that do
	replies   map[callKey]Params  // those to queued calls that the daemon may not have
	order     []callKey           // the newest keys of replies, the oldest first
	seen      map[callKey]bool    // the queued calls that came on this connection
}

// A callKey is a queued call: the journal, and the position in it.
type callKey struct{ epoch, id string }

// A delivered call.
type delivered struct {
	ID     string `json:"call"`
	Method string
	Params json.RawMessage
	Caller struct{ UID, PID int }

	connection *connection
	end        time.Time
}

func (d *delivered) isQueued() bool { return strings.HasPrefix(d.ID, "q") }

func (d *delivered) key() callKey { return callKey{d.connection.epoch, d.ID} }

// Provide provides a service, and returns when others can call it. The context limits only the time
// until then. It fails with a *DaemonError if the daemon refuses, for example because another
// program provides a service of this name.
func (c *Client) Provide(ctx context.Context, service Service) (*Provider, error) {
	p := &Provider{
		open:    func(ctx context.Context) (*connection, error) { return open(ctx, c.paths, c.name) },
		service: service,
		jobs:    service.Jobs,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		answers: map[int64]func(*frame, error){},
		running: map[*delivered]bool{},
		replies: map[callKey]Params{},
		seen:    map[callKey]bool{},
	}
	if p.jobs < 1 {
		p.jobs = 1
	}
	p.ctx, p.end = context.WithCancel(context.Background())
	first, err := p.connect(ctx)
	if err != nil {
		p.end()
		return nil, err
	}
	go p.run(first)
	return p, nil
}

// Wait waits until the provider has ended, and returns the error that has ended it; nil after Close.
func (p *Provider) Wait() error {
	<-p.done
	return p.err
}

// Close takes no more calls, finishes those that it has, and ends the connection.
func (p *Provider) Close() {
	p.mu.Lock()
	p.isClosing = true
	p.mu.Unlock()
	withdrawn := make(chan struct{})
	_ = p.request("withdraw", Params{"service": p.service.Name}, func(*frame, error) { close(withdrawn) })
	<-withdrawn
	p.until(context.Background(), func() bool {
		return len(p.running) == 0 && len(p.waiting) == 0 && len(p.answers) == 0
	})
	p.finish(nil)
	<-p.done
}

func (p *Provider) connect(ctx context.Context) (*connection, error) {
	connection, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := connection.ask(ctx, "provide", p.service.declaration(), &struct{}{}); err != nil {
		connection.close()
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isOver {
		connection.close()
		return nil, ErrClosed
	}
	p.current = connection
	p.change()
	return connection, nil
}

// run takes calls and answers, and connects again, until an error that does not pass.
func (p *Provider) run(connection *connection) {
	defer close(p.done)
	var pauses backoff
	for {
		err := p.receive(connection, &pauses)
		p.lose(err)
		p.mu.Lock()
		isEnd := p.isClosing || p.isOver
		p.mu.Unlock()
		if isEnd {
			p.finish(nil)
			return
		}
		for {
			if err = pauses.wait(p.ctx, err); err != nil {
				p.finish(err)
				return
			}
			if connection, err = p.connect(p.ctx); err == nil {
				break
			}
		}
	}
}

func (p *Provider) receive(connection *connection, pauses *backoff) error {
	defer connection.closeWhenDone(p.ctx)()
	for {
		frame, err := connection.receive()
		if err != nil {
			return err
		}
		pauses.reset()
		if frame.ID != nil {
			p.take(frame)
		} else if frame.Method == "call" {
			call := &delivered{connection: connection, end: time.Now().Add(p.service.timeout())}
			if err := json.Unmarshal(frame.Params, call); err != nil {
				return &ConnectionLostError{Err: err}
			}
			p.deliver(call)
		}
	}
}

func (p *Provider) lose(err error) {
	p.mu.Lock()
	if p.current != nil {
		p.current.close()
	}
	answers := p.answers
	p.current, p.answers = nil, map[int64]func(*frame, error){}
	// The daemon has ended direct calls, and delivers queued ones again.
	p.waiting, p.seen = nil, map[callKey]bool{}
	p.change()
	p.mu.Unlock()
	for _, answer := range answers {
		answer(nil, err)
	}
}

func (p *Provider) finish(err error) {
	p.mu.Lock()
	if !p.isOver {
		p.isOver, p.err = true, err
	}
	p.change()
	p.mu.Unlock()
	p.end()
	p.lose(ErrClosed)
}

// change wakes those that wait for a condition; call it with the lock.
func (p *Provider) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// until waits for a condition, which is called with the lock, or for the end of the provider.
func (p *Provider) until(ctx context.Context, condition func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !condition() && !p.isOver && ctx.Err() == nil {
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
	}
}

// request sends a request; answer is called once, also if the connection is lost. It fails if the
// request cannot be sent at all; then answer is not called.
func (p *Provider) request(method string, params Params, answer func(*frame, error)) error {
	p.mu.Lock()
	connection := p.current
	if connection == nil {
		p.mu.Unlock()
		answer(nil, ErrClosed)
		return nil
	}
	p.lastID++
	id := p.lastID
	line, err := connection.encode(id, method, params)
	if err == nil {
		p.answers[id] = answer
	}
	p.mu.Unlock()
	if err == nil {
		_ = connection.send(p.ctx, line) // run notices it too
	}
	return err
}

func (p *Provider) take(f *frame) {
	id, _ := strconv.ParseInt(string(f.ID), 10, 64)
	p.mu.Lock()
	answer := p.answers[id]
	delete(p.answers, id)
	p.change()
	p.mu.Unlock()
	if answer == nil {
		return
	}
	if f.Error != nil {
		answer(f, f.Error)
	} else {
		answer(f, nil)
	}
}

// get returns a value, also if the connection is lost meanwhile; nil if there is none.
func (p *Provider) get(ctx context.Context, source string) (json.RawMessage, error) {
	type got struct {
		frame *frame
		err   error
	}
	for {
		p.until(ctx, func() bool { return p.current != nil })
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		answer := make(chan got, 1)
		err := p.request("get", Params{"source": source}, func(f *frame, err error) { answer <- got{f, err} })
		if err != nil {
			return nil, err
		}
		var refused *DaemonError
		select {
		case got := <-answer:
			switch {
			case errors.As(got.err, &refused) && refused.Name == "not_found":
				return nil, nil
			case refused != nil:
				return nil, refused
			case got.err == nil:
				var result struct{ Value json.RawMessage }
				err := json.Unmarshal(got.frame.Result, &result)
				return result.Value, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (p *Provider) deliver(call *delivered) {
	p.mu.Lock()
	if call.isQueued() {
		key := call.key()
		p.seen[key] = true
		if reply := p.replies[key]; reply != nil {
			p.mu.Unlock()
			p.reply(call, reply)
			return
		}
		for running := range p.running {
			if running.isQueued() && running.key() == key {
				p.mu.Unlock()
				return
			}
		}
	}
	p.waiting = append(p.waiting, call)
	p.start()
	p.mu.Unlock()
}

// start begins as many of the calls that wait as may run; call it with the lock.
func (p *Provider) start() {
	for len(p.running) < p.jobs && len(p.waiting) > 0 {
		call := p.waiting[0]
		p.waiting = p.waiting[1:]
		// The daemon has given up a direct call.
		if !call.isQueued() && time.Now().After(call.end) {
			continue
		}
		p.running[call] = true
		go func() {
			p.perform(call)
			p.mu.Lock()
			delete(p.running, call)
			p.start()
			p.change()
			p.mu.Unlock()
		}()
	}
}

func (p *Provider) perform(given *delivered) {
	reply := p.outcome(given)
	p.mu.Lock()
	isOurs := p.current == given.connection
	if given.isQueued() {
		// Otherwise it is sent when the daemon delivers the call again.
		p.replies[given.key()] = reply
		// Another program may have answered the call meanwhile; then nobody asks for the reply.
		if p.order = append(p.order, given.key()); len(p.order) > maxReplies {
			delete(p.replies, p.order[0])
			p.order = p.order[1:]
		}
		isOurs = p.seen[given.key()]
	}
	p.mu.Unlock()
	if isOurs {
		p.reply(given, reply)
	}
}

// outcome runs the method and returns the reply.
func (p *Provider) outcome(given *delivered) (reply Params) {
	defer func() {
		if fault := recover(); fault != nil {
			log.Printf("binder: %s panicked: %v", given.Method, fault)
			reply = failure(fmt.Sprint(fault))
		}
	}()
	method := p.service.Methods[strings.TrimPrefix(given.Method, p.service.Name+".")]
	call := &Call{Params: given.Params, UID: given.Caller.UID, PID: given.Caller.PID, provider: p}
	result, err := method.Run(p.ctx, call)
	if err != nil {
		return failure(err.Error())
	}
	return call.reply(result)
}

func failure(message string) Params {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "")
	}
	return Params{"error": message}
}

func (p *Provider) reply(call *delivered, reply Params) {
	answered := func(_ *frame, err error) {
		var refused *DaemonError
		if err != nil && !errors.As(err, &refused) {
			return
		}
		p.mu.Lock()
		delete(p.replies, call.key())
		p.mu.Unlock()
		// The caller may have gone away meanwhile: not_found.
		if refused != nil && refused.Name != "not_found" {
			log.Printf("binder: the reply to %s was refused: %v", call.Method, refused)
		}
	}
	send := func(reply Params) error {
		params := Params{"call": call.ID}
		for name, value := range reply {
			params[name] = value
		}
		return p.request("reply", params, answered)
	}
	if err := send(reply); err != nil {
		// It is too long, or not JSON.
		log.Printf("binder: the reply to %s cannot be sent: %v", call.Method, err)
		_ = send(failure("the result cannot be sent: " + err.Error()))
	}
}
