// Package notifytest has servers that stand in for those that messages go to: one of the web and
// one of mail. They speak the real protocols on this machine, write down every byte they are sent,
// and fail as they are told.
package notifytest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Web is a server of the web that answers each request with the next of its answers, the last one
// again and again.
type Web struct {
	// Answers are whole HTTP answers, such as Answer makes. "" says nothing, until the other side
	// hangs up.
	Answers []string

	mu    sync.Mutex
	asked []string
}

// Answer is an answer with such a status, headers ("Retry-After: 3") and body.
func Answer(status int, body string, headers ...string) string {
	text := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\nConnection: close\r\n", status, http.StatusText(status), len(body))
	for _, h := range headers {
		text += h + "\r\n"
	}
	return text + "\r\n" + body
}

// Serve takes connections until the listener is closed. It calls seen, if there is any, with each
// request as it came, before it answers.
func (w *Web) Serve(l net.Listener, seen func(request string)) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go w.answer(conn, seen)
	}
}

// Asked are the requests so far, byte by byte.
func (w *Web) Asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.asked...)
}

func (w *Web) answer(conn net.Conn, seen func(string)) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // nobody waits for ever
	var raw bytes.Buffer
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &raw)))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.mu.Lock()
	answer := w.Answers[min(len(w.asked), len(w.Answers)-1)]
	w.asked = append(w.asked, raw.String())
	w.mu.Unlock()
	if seen != nil {
		seen(raw.String())
	}
	if answer == "" {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	_, _ = io.Copy(conn, strings.NewReader(answer))
}
