package mcp

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// resource is an answer of a command that a client can read, and subscribe to.
type resource struct {
	uri, name, help string
	request         request
}

// These are the resources.
const (
	TasksURI = "ouro://tasks"
	InboxURI = "ouro://inbox"
)

func resources() []resource {
	return []resource{
		{TasksURI, "tasks", "what is pending, next first", callOf("ls", option.Values{}.With("limit", 1000))},
		{InboxURI, "inbox", "messages and results that nobody has acknowledged",
			callOf("inbox", option.Values{}.With("all", true).With("limit", 1000))},
	}
}

func (s *server) addResources() {
	for _, r := range resources() {
		s.sdk.AddResource(&sdk.Resource{URI: r.uri, Name: r.name, Description: r.help, MIMEType: "application/json"},
			func(ctx context.Context, _ *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				answer := s.Call(ctx, r.request.Request)
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.uri,
					MIMEType: "application/json", Text: string(answer.JSON)}}}, nil
			})
	}
}

// subscribe makes sure that the resource is watched, from the first subscription to the end of the
// session. A watch costs nothing while nothing changes, and the library tells only subscribers. The
// watch is in place when it returns.
func (s *server) subscribe(_ context.Context, r *sdk.SubscribeRequest) error {
	uri := r.Params.URI
	if uri != TasksURI && uri != InboxURI {
		return sdk.ResourceNotFoundError(uri)
	}
	s.watching.Lock()
	defer s.watching.Unlock()
	if s.watched[uri] != nil {
		return nil
	}
	changes, err := s.Watch(s.inputCtx, uri)
	if err != nil {
		return err
	}
	if s.watched == nil {
		s.watched = map[string]chan struct{}{}
	}
	begun := make(chan struct{}, 1)
	s.watched[uri] = begun
	go func() {
		for {
			select {
			case <-s.inputCtx.Done():
				return
			case <-begun:
			case _, more := <-changes:
				if !more {
					return
				}
			}
			_ = s.sdk.ResourceUpdated(s.inputCtx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
	}()
	return nil
}

// subscribed is called after a subscription was answered. It notifies the client once without a
// change, because the resource may have changed after the client read it and before the watch
// began. Some clients do not wait for the answer.
func (s *server) subscribed(uri string) {
	s.watching.Lock()
	defer s.watching.Unlock()
	select {
	case s.watched[uri] <- struct{}{}:
	default: // the client is about to be told
	}
}

// watches are the resources that are watched.
type watches struct {
	watching sync.Mutex
	watched  map[string]chan struct{} // by URI; gets a value for each new subscription
}
