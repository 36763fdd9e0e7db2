package mcp

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSubscribed tells a client once when it is subscribed, as it may have read before the watch
// was in place, and then of each change. A client of a new version of the protocol goes on before
// its subscription is answered.
func TestSubscribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 10)
		changes := make(chan struct{}, 1)
		o := fakes(nil)
		o.Watch = func(_ context.Context, uri string) (<-chan struct{}, error) {
			if uri != TasksURI {
				t.Errorf("%s is watched", uri)
			}
			return changes, nil
		}
		to, from := start(t, &o)
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
		})
		c, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: from, Writer: to}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: TasksURI}); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			synctest.Wait()
			if len(told) != 1 || <-told != TasksURI {
				t.Fatalf("after %d changes: told %d times more", n, len(told))
			}
			changes <- struct{}{}
		}
		synctest.Wait() // the client is told of the last change before it closes
	})
}

// TestSubscribedAfterTheAnswer tells a client of an older version of the protocol once, after its
// subscription was answered.
func TestSubscribedAfterTheAnswer(t *testing.T) {
	o := fakes(nil)
	changes := make(chan struct{}, 1)
	o.Watch = func(context.Context, string) (<-chan struct{}, error) { return changes, nil }
	to, from := start(t, &o)
	go io.WriteString(to, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"ouro://nothing"}}
{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"ouro://inbox"}}
`)
	const told = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"ouro://inbox"}}`
	var got []string // but for the answers to what came before
	refused := false // the answers to 2 and 3 come in either order
	for answers := bufio.NewScanner(from); (len(got) < 3 || !refused) && answers.Scan(); {
		switch text := answers.Text(); {
		case strings.Contains(text, `"id":1,`):
		case strings.Contains(text, `"id":2,`):
			refused = true
			if !strings.Contains(text, `"error":{`) {
				t.Error(text)
			}
		default:
			if got = append(got, text); len(got) == 2 {
				changes <- struct{}{}
			}
		}
	}
	if want := []string{`{"jsonrpc":"2.0","id":3,"result":{}}`, told, told}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
