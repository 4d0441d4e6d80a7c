// The driver of the Go client; run describes its lines.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"binder"
)

var (
	ctx   = context.Background()
	lines = bufio.NewReader(os.Stdin)
)

func show(answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func showError(err error) {
	answer := map[string]any{"type": "?", "message": err.Error()}
	var (
		refused *binder.DaemonError
		failed  *binder.ConnectionFailedError
		lost    *binder.ConnectionLostError
		closed  *binder.SubscriptionClosedError
	)
	switch {
	case errors.As(err, &refused):
		answer["type"], answer["name"] = "DaemonError", refused.Name
		answer["code"], answer["data"] = refused.Code, refused.Data
	case errors.As(err, &failed):
		answer["type"] = "ConnectionFailed"
	case errors.As(err, &lost):
		answer["type"], answer["reason"] = "ConnectionLost", lost.Reason
	case errors.As(err, &closed):
		answer["type"], answer["reason"] = "SubscriptionClosed", closed.Reason
	case errors.Is(err, binder.ErrOutcomeUnknown):
		answer["type"] = "OutcomeUnknown"
	}
	show(map[string]any{"error": answer})
}

// read returns the words of a line, or exits at the end.
func read() []string {
	line, err := lines.ReadString('\n')
	if err == io.EOF {
		os.Exit(0)
	}
	return strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
}

func main() {
	client, err := binder.Dial(ctx, binder.Options{Name: "driver"})
	if err != nil {
		showError(err)
		return
	}
	if os.Args[1] == "calls" {
		calls(client)
	} else {
		watch(client, os.Args[2], os.Args[3], os.Args[4])
	}
}

func calls(client *binder.Client) {
	for {
		words := read()
		var result json.RawMessage
		var err error
		if words[0] == "many" {
			result, err = json.RawMessage("{}"), many(client, words[1], words[2])
		} else {
			var params binder.Params
			if err := json.Unmarshal([]byte(words[2]), &params); err != nil {
				panic(err)
			}
			call := client.Call
			if words[0] == "command" {
				call = client.Command
			}
			err = call(ctx, words[1], params, &result)
		}
		if err != nil {
			showError(err)
		} else {
			show(map[string]any{"result": result})
		}
	}
}

func many(client *binder.Client, number, name string) (failure error) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	for i := 0; i < n; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if err := client.Command(ctx, "cells.add", binder.Params{"name": name}, nil); err != nil {
				mu.Lock()
				failure = err
				mu.Unlock()
			}
		}()
	}
	group.Wait()
	return failure
}

func watch(client *binder.Client, source, options, cursor string) {
	var params binder.Params
	var resume *binder.Cursor
	if err := json.Unmarshal([]byte(options), &params); err != nil {
		panic(err)
	}
	if cursor != "" {
		resume = new(binder.Cursor)
		if err := json.Unmarshal([]byte(cursor), resume); err != nil {
			panic(err)
		}
	}
	subscription, err := client.Subscribe(ctx, source, params, resume)
	if err != nil {
		showError(err)
		return
	}
	show(map[string]bool{"ready": true})
	for {
		words := read()
		if words[0] == "ack" {
			seq, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				panic(err)
			}
			subscription.Ack(seq)
			continue
		}
		update, ok := <-subscription.Updates()
		if !ok {
			showError(subscription.Err())
			return
		}
		show(update)
	}
}
