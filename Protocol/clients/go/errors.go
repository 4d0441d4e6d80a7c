package binder

import (
	"encoding/json"
	"errors"
	"fmt"
)

// DaemonError is the daemon's refusal of a request, or its reason for ending a subscription.
//
// Name and Code are stable; section 4 of the protocol lists them. Message is for people and may
// change.
type DaemonError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Name    string `json:"-"`
	// Retry says whether the same request may succeed later.
	Retry bool `json:"-"`
	// Data has all members, also those of this error alone, for example "path".
	Data json.RawMessage `json:"data"`
}

// UnmarshalJSON reads the error of an answer or a notification.
func (e *DaemonError) UnmarshalJSON(text []byte) error {
	type plain DaemonError
	if err := json.Unmarshal(text, (*plain)(e)); err != nil || e.Data == nil {
		return err
	}
	var data struct {
		Name  string
		Retry bool
	}
	err := json.Unmarshal(e.Data, &data)
	e.Name, e.Retry = data.Name, data.Retry
	return err
}

func (e *DaemonError) Error() string { return e.Name + ": " + e.Message }

// ConnectionFailedError means that no daemon answers at the socket.
type ConnectionFailedError struct{ Err error }

func (e *ConnectionFailedError) Error() string { return e.Err.Error() + "; is binderd running?" }

func (e *ConnectionFailedError) Unwrap() error { return e.Err }

// ConnectionLostError means that the connection has ended. A call without an idempotency key may
// or may not have been run.
type ConnectionLostError struct {
	// Reason is the daemon's own, for example "shutdown"; empty if it gave none.
	Reason string
	// ReconnectMS is the time after which to connect again; nil if the daemon named none.
	ReconnectMS *int
	// Err is the cause if there is no Reason.
	Err error
}

func (e *ConnectionLostError) Error() string {
	if e.Reason != "" {
		return "the daemon has closed the connection: " + e.Reason
	}
	return fmt.Sprintf("the connection is lost: %v", e.Err)
}

func (e *ConnectionLostError) Unwrap() error { return e.Err }

// SubscriptionClosedError means that another program has ended the subscription of a durable
// reader: another subscription holds it ("stolen"), or it was "removed".
type SubscriptionClosedError struct{ Reason string }

func (e *SubscriptionClosedError) Error() string {
	return "the subscription is closed: " + e.Reason
}

// ErrOutcomeUnknown means that the journal was replaced while a command was in flight. The new
// journal may not know its idempotency key, so it is not sent again. Look at the current values.
var ErrOutcomeUnknown = errors.New("the journal was replaced; the outcome of the command is unknown")

// ErrClosed means that the client was closed.
var ErrClosed = errors.New("the client is closed")

// isTemporary returns whether connecting again may succeed.
func isTemporary(err error) bool {
	var (
		refused *DaemonError
		failed  *ConnectionFailedError
		lost    *ConnectionLostError
	)
	switch {
	case errors.As(err, &refused):
		return refused.Retry
	case errors.As(err, &failed):
		return true
	case errors.As(err, &lost):
		// The daemon closes the connection of a reader that pauses too long. The reader reads
		// again when it connects, so the cause is gone.
		return lost.ReconnectMS != nil || lost.Reason == "" ||
			lost.Reason == "stalled" || lost.Reason == "out_queue_full"
	}
	return false
}
