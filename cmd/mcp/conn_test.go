package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// dial returns a connection, what the test writes to it and what it writes.
func dial(t *testing.T) (w *connection, to io.WriteCloser, from *bufio.Scanner) {
	in, to := io.Pipe()
	out, writer := io.Pipe()
	w = newConnection(in, writer, func(error) {}, func(string) {})
	if _, err := w.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close(); out.Close(); w.Close() })
	return w, to, bufio.NewScanner(out)
}

// TestConnectionOutlivesBadMessages answers what cannot be read, by the ID that shows in it, and reads
// on.
func TestConnectionOutlivesBadMessages(t *testing.T) {
	w, to, from := dial(t)
	long := strings.Repeat("x", messageMost)
	bad := []struct{ text, id, says string }{
		{`nonsense`, "null", "not JSON"},
		{`{"jsonrpc":"2.0","id":7,"method":"ping"`, "7", "not JSON"},
		{`{"jsonrpc":"1.0","id":8,"method":"ping"}`, "8", "not a JSON-RPC 2.0"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "not a JSON-RPC 2.0"},
		{`{"jsonrpc":"2.0","id":9,"method":12}`, "9", "not a JSON-RPC 2.0 message: the method is not text"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", "whole number"},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "null", "whole number"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", "the id of a call is null"},
		{`{"jsonrpc":"2.0","id":15}`, "15", "neither a call nor an answer"},
		{"{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"\xff\"}", "10", "UTF-8"},
		{`{"jsonrpc":"2.0","id":11,"method":"ping","params":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "11", "deeper"},
		{`{"jsonrpc":"2.0","id":"twelve","method":"` + long + `"}`, `"twelve"`, "longer"},
		{`{"method":"` + long + long + `","params":{"id":1},"jsonrpc":"2.0","id":13}`, "13", "longer"},
		{`[]`, "null", "batch is empty"},
	}
	go func() {
		for _, b := range bad {
			fmt.Fprintf(to, "%s\r\n\n", b.text)
		}
		fmt.Fprint(to, `{"jsonrpc":"2.0","id":1,"method":"ping"}`) // the last one without an end of line
		to.Close()
	}()
	read := make(chan jsonrpc.Message, 1)
	go func() {
		msg, err := w.Read(t.Context())
		if err != nil {
			t.Error(err)
		}
		read <- msg
	}()
	for _, b := range bad {
		if !from.Scan() {
			t.Fatalf("no answer to %.60q: %v", b.text, from.Err())
		}
		var answer struct {
			ID    json.RawMessage `json:"id"`
			Error struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(from.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if string(answer.ID) != b.id || answer.Error.Code == 0 || !strings.Contains(answer.Error.Message, b.says) {
			t.Errorf("%.60q is answered by %s", b.text, from.Text())
		}
	}
	if req, ok := (<-read).(*jsonrpc.Request); !ok || req.Method != "ping" {
		t.Errorf("then %v is read", req)
	}
}

// TestConnectionBatch reads the messages of a batch one by one.
func TestConnectionBatch(t *testing.T) {
	w, to, _ := dial(t)
	go fmt.Fprintln(to, `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]`)
	for _, want := range []string{"a", "b"} {
		msg, err := w.Read(t.Context())
		if err != nil || msg.(*jsonrpc.Request).Method != want {
			t.Errorf("%v, %v", msg, err)
		}
	}
}

// TestConnectionCalls drops the answer to a cancelled call, and refuses an ID that is taken.
func TestConnectionCalls(t *testing.T) {
	w, to, from := dial(t)
	next := func() *jsonrpc.Request {
		msg, err := w.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return msg.(*jsonrpc.Request)
	}
	go fmt.Fprintln(to, `{"jsonrpc":"2.0","id":1,"method":"slow"}
{"jsonrpc":"2.0","id":2,"method":"slow"}
{"jsonrpc":"2.0","id":2,"method":"slow"}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	one, two := next(), next()
	go func() {
		if next().Method != "notifications/cancelled" {
			t.Error("the call with an ID that is taken was let in")
		}
		for _, call := range []*jsonrpc.Request{one, two} {
			if err := w.Write(t.Context(), &jsonrpc.Response{ID: call.ID, Result: []byte(`"done"`)}); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, want := range []string{"not answered yet", `"id":2,"result":"done"`} {
		if !from.Scan() || !strings.Contains(from.Text(), want) {
			t.Errorf("%s, not %s", from.Text(), want)
		}
	}
}

// TestConnectionDrains answers the open calls before the end.
func TestConnectionDrains(t *testing.T) {
	w, to, from := dial(t)
	go func() {
		fmt.Fprintln(to, `{"jsonrpc":"2.0","id":1,"method":"a"}`)
		to.Close()
	}()
	msg, err := w.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() {
		_, err := w.Read(t.Context())
		end <- err
	}()
	go func() {
		if err := w.Write(t.Context(), &jsonrpc.Response{ID: msg.(*jsonrpc.Request).ID, Result: []byte(`1`)}); err != nil {
			t.Error(err)
		}
	}()
	if !from.Scan() || !strings.Contains(from.Text(), `"result":1`) {
		t.Errorf("%q, %v", from.Text(), from.Err())
	}
	if err := <-end; err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}

// FuzzMessage reads any line without an end to the connection, and finds no ID that is not there.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":"{}"}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"x","method":"ping"},1,null]`))
	f.Add([]byte(`{"id":1`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var out strings.Builder
		w := newConnection(strings.NewReader(string(text)+"\n"), &out, func(error) {}, func(string) {})
		if _, err := w.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ {
			msg, err := w.Read(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil || n > len(text) {
				t.Fatalf("message %d: %v", n, err)
			}
			if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
				if err := w.Write(t.Context(), &jsonrpc.Response{ID: req.ID, Result: []byte(`{}`)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for answer := range strings.Lines(out.String()) {
			if !json.Valid([]byte(answer)) {
				t.Errorf("%q is answered by %q", text, answer)
			}
		}
	})
}
