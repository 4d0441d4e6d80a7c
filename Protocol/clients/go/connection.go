package binder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"sync"
	"time"
)

const (
	// maxLine is the longest line in bytes that the client takes. A longer value comes in parts.
	maxLine = 1 << 20

	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// A frame is an answer or a notification.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *DaemonError    `json:"error"`
}

// A connection is one on which hello was answered.
type connection struct {
	socket     net.Conn
	lines      *bufio.Scanner
	requests   chan []byte
	closed     chan struct{}
	closing    sync.Once
	maxRequest int
	epoch      string
}

// socketPaths returns the paths where a daemon may listen, in the order to try them.
func socketPaths(path string) []string {
	if path == "" {
		path = os.Getenv("BINDER_SOCKET")
	}
	if path != "" {
		return []string{path}
	}
	directory := os.Getenv("BINDER_NAME")
	if directory == "" || directory == "binderd" {
		directory = "binder"
	}
	paths := []string{"/run/" + directory + "/bus.sock"}
	if user := os.Getenv("XDG_RUNTIME_DIR"); user != "" {
		paths = append([]string{user + "/" + directory + "/bus.sock"}, paths...)
	}
	return paths
}

// open connects to the first path where a daemon listens, and says hello.
func open(ctx context.Context, paths []string, name string) (*connection, error) {
	var failure error
	for _, path := range paths {
		socket, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
		if err != nil {
			failure = err
			continue
		}
		c := &connection{
			socket:     socket,
			lines:      bufio.NewScanner(socket),
			requests:   make(chan []byte),
			closed:     make(chan struct{}),
			maxRequest: maxLine,
		}
		c.lines.Buffer(nil, maxLine+2)
		go c.write()
		if err := c.greet(ctx, name); err != nil {
			c.close()
			return nil, err
		}
		return c, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, &ConnectionFailedError{failure}
}

func (c *connection) greet(ctx context.Context, name string) error {
	var hello struct {
		Epoch  string
		Limits struct {
			LineIn int `json:"line_in"`
		}
	}
	err := c.ask(ctx, "hello", Params{
		"protocol": []int{1},
		"client":   Params{"name": name},
		"optional": []string{"items"},
		"limits":   Params{"line": maxLine},
	}, &hello)
	c.epoch, c.maxRequest = hello.Epoch, hello.Limits.LineIn
	return err
}

// ask sends a request and reads its answer, before anything else is sent on the connection.
func (c *connection) ask(ctx context.Context, method string, params Params, result any) error {
	defer c.closeWhenDone(ctx)()
	line, err := c.encode(0, method, params)
	if err != nil {
		return err
	}
	if err := c.send(ctx, line); err != nil {
		return err
	}
	answer, err := c.receive()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case answer.Error != nil:
		return answer.Error
	}
	return json.Unmarshal(answer.Result, result)
}

// encode returns the line of a request; with a negative id the daemon does not answer it.
//
// It fails with "line_too_long" if the daemon takes no such long line. The daemon's own error
// would have no id, because it drops the line.
func (c *connection) encode(id int64, method string, params Params) ([]byte, error) {
	request := Params{"jsonrpc": "2.0", "method": method, "params": params}
	if id >= 0 {
		request["id"] = id
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // ends each text with a line feed
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(request); err != nil {
		return nil, err
	}
	if line.Len() > c.maxRequest {
		return nil, &DaemonError{
			Code:    -32001,
			Name:    "line_too_long",
			Message: fmt.Sprintf("the request has %d bytes, a line has at most %d", line.Len(), c.maxRequest),
			Data: json.RawMessage(fmt.Sprintf(
				`{"name":"line_too_long","retry":false,"limit":"line_in","max":%d}`, c.maxRequest)),
		}
	}
	return line.Bytes(), nil
}

// send waits until the daemon has taken the lines before, and hands over another one.
func (c *connection) send(ctx context.Context, line []byte) error {
	select {
	case c.requests <- line:
		return nil
	case <-c.closed:
		return &ConnectionLostError{Err: net.ErrClosed}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *connection) write() {
	for {
		select {
		case line := <-c.requests:
			if _, err := c.socket.Write(line); err != nil {
				return // The reader notices it too.
			}
		case <-c.closed:
			return
		}
	}
}

// receive waits for the next answer or notification. It reads only when it is called, so that a
// slow caller slows down the daemon and needs no memory.
func (c *connection) receive() (*frame, error) {
	if !c.lines.Scan() {
		err := c.lines.Err()
		if err == nil {
			err = io.EOF
		}
		return nil, &ConnectionLostError{Err: err}
	}
	var f frame
	if err := json.Unmarshal(c.lines.Bytes(), &f); err != nil {
		return nil, &ConnectionLostError{Err: err}
	}
	if f.Method != "closing" {
		return &f, nil
	}
	var last struct {
		Reason      string
		ReconnectMS *int `json:"reconnect_ms"`
	}
	if err := json.Unmarshal(f.Params, &last); err != nil {
		return nil, &ConnectionLostError{Err: err}
	}
	return nil, &ConnectionLostError{Reason: last.Reason, ReconnectMS: last.ReconnectMS}
}

func (c *connection) close() {
	c.closing.Do(func() {
		close(c.closed)
		c.socket.Close()
	})
}

// closeWhenDone closes the connection when the context ends, unless the returned function was
// called before.
func (c *connection) closeWhenDone(ctx context.Context) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			c.close()
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}

// backoff gives pauses that double, with a random part so that many clients do not return at once.
type backoff struct{ pause time.Duration }

// reset begins with the shortest pause again, after a success.
func (b *backoff) reset() { b.pause = 0 }

// wait waits before the next attempt; it returns err if another attempt cannot help.
func (b *backoff) wait(ctx context.Context, err error) error {
	if !isTemporary(err) {
		return err
	}
	if b.pause == 0 {
		b.pause = firstPause
	}
	half := b.pause / 2
	pause := half + time.Duration(rand.Int63n(int64(half)+1))
	var lost *ConnectionLostError
	if errors.As(err, &lost) && lost.ReconnectMS != nil {
		pause = time.Duration(*lost.ReconnectMS) * time.Millisecond
	} else if b.pause *= 2; b.pause > longestPause {
		b.pause = longestPause
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// The random part differs between programs.
func init() { rand.Seed(time.Now().UnixNano()) }
