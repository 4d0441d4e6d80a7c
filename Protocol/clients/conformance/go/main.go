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
	switch os.Args[1] {
	case "calls":
		calls(client)
	case "watch":
		watch(client, os.Args[2], os.Args[3], os.Args[4])
	case "provide":
		provide(client, os.Args[2], os.Args[3])
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

const view = "view \"The stock.\"\nservices/stock/n ~> n\nadd -> stock.add name=\"n\""

type named struct{ Name string }

type adding struct {
	Name string `doc:"Of which."`
	N    *int   `json:"n"`
}

func provide(client *binder.Client, name, jobs string) {
	released := make(chan struct{}, 100)
	hold := func(ctx context.Context, call *binder.Call, p named) (string, error) {
		show(map[string]string{"begun": p.Name})
		<-released
		var count int
		err := call.Get(ctx, "held/"+p.Name, &count)
		call.Set("held/"+p.Name, count+1)
		return p.Name, err
	}
	service := binder.Service{
		Name: name, Doc: "A service of the driver.", Sources: map[string]string{"n": "A number."},
		Methods: binder.Methods{
			"echo": {Run: func(ctx context.Context, call *binder.Call) (any, error) {
				return binder.Params{"params": call.Params, "uid": call.UID}, nil
			}},
			"add": binder.Func("Adds to a number.",
				func(ctx context.Context, call *binder.Call, p adding) (int, error) {
					count, again, n := 0, 0, 1
					if p.N != nil {
						n = *p.N
					}
					if err := call.Get(ctx, p.Name, &count); err != nil {
						return 0, err
					}
					call.Set(p.Name, count+n)
					if err := call.Get(ctx, p.Name, &again); err != nil || again != count+n {
						return 0, fmt.Errorf("it is not set: %d, %v", again, err)
					}
					return again, nil
				}),
			"remove": binder.Func("Removes a number.",
				func(ctx context.Context, call *binder.Call, p named) (any, error) {
					call.Remove(p.Name)
					return nil, nil
				}),
			"show": binder.Func("Publishes a value.",
				func(ctx context.Context, call *binder.Call, p struct{ Value any }) (any, error) {
					call.Publish("last", p.Value)
					return nil, nil
				}),
			"refuse": binder.Func("Refuses.",
				func(ctx context.Context, call *binder.Call, p struct{ Why string }) (any, error) {
					call.Set("n", "is not recorded")
					return nil, errors.New(p.Why)
				}),
			"fail": {Run: func(ctx context.Context, call *binder.Call) (any, error) { panic("boom") }},
			"wrong": {Result: binder.Params{"type": "integer"},
				Run: func(ctx context.Context, call *binder.Call) (any, error) { return "text", nil }},
			"long": {Run: func(ctx context.Context, call *binder.Call) (any, error) {
				return strings.Repeat("x", 2<<20), nil
			}},
			"hold":  binder.Func("Waits.", hold),
			"order": binder.Queued(binder.Func("Waits.", hold)),
		},
	}
	service.Jobs, _ = strconv.Atoi(jobs)
	if name == "stock" {
		service.Views = map[string]string{"stock": view}
	}
	provider, err := client.Provide(ctx, service)
	if err != nil {
		showError(err)
		return
	}
	show(map[string]bool{"ready": true})
	go func() {
		for {
			if read()[0] == "go" {
				released <- struct{}{}
			} else {
				go provider.Close()
			}
		}
	}()
	if err := provider.Wait(); err != nil {
		showError(err)
	} else {
		show(map[string]bool{"ended": true})
	}
}
