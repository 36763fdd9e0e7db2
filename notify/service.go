package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TellCommand is the hidden command of our own program that Tell is behind.
const TellCommand = "_tell"

// proxies are the variables that name one.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// passed is all that the child gets of the environment: how to reach the world and whom to trust there.
var passed = append([]string{"SSL_CERT_FILE", "SSL_CERT_DIR", "HOME", "PATH", "TZ"}, proxies...)

// Bounds of what is read of the child.
const (
	tellAnswerLimit = 16 << 10
	tellWordsLimit  = 64 << 10 // what a crash prints
)

// sendService tells it by the service that the channel's URL names. The library that speaks to services runs in a child of our
// own program and in a process group of its own, which is killed when ctx ends: where the library panics, hangs, exits or
// prints what it likes, the channel failed and nothing more happened.
func sendService(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	s, u, err := parseService(c.URL)
	if err != nil {
		return "", err
	}
	if m.To != "" || c.To != "" {
		return "", permanent("%s takes no recipient: whom it tells is in the url of the channel", s.name)
	}
	text := m.Text()
	if m.Subject == "" && strings.TrimSpace(text) == "" {
		return "", permanent("there is nothing to tell %s: neither a subject nor a body", s.name)
	}
	left := state.ChannelTimeout
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	said, err := json.Marshal(tellRequest{URL: c.URL, Subject: m.Subject, Body: text, ID: m.ID, Seconds: left.Seconds()})
	if err != nil {
		return "", permanent("%s: %v", s.name, err)
	}
	child := exec.CommandContext(ctx, env.Self, TellCommand)
	child.Env = []string{}
	for _, name := range passed {
		if value := env.Getenv(name); value != "" {
			child.Env = append(child.Env, name+"="+value)
		}
	}
	answer, words := &bounded{most: tellAnswerLimit}, &bounded{most: tellWordsLimit}
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(said), answer, words
	defer grouped(child)()
	err = child.Run()
	a, unread := readAnswer(answer.text)
	answered := unread == nil && !answer.over
	// What was told was told, even if the time was up while it said so.
	if ctx.Err() != nil && !(answered && *a.OK) {
		return "", context.Cause(ctx)
	}
	if !answered {
		return "", passing("%s: %s", s.name, broken(s, u, err, answer, words))
	}
	if !*a.OK {
		return "", &Error{Text: s.name + ": " + Line(a.Error), Permanent: a.Permanent, RetryAfter: time.Duration(a.RetryAfter * float64(time.Second))}
	}
	if a.Cut > 0 {
		return fmt.Sprintf("Sent to %s, without the last %d bytes: it takes no more.", s.name, a.Cut), nil
	}
	return fmt.Sprintf("Sent to %s.", s.name), nil
}

// broken says how a child ended that did not answer.
func broken(s service, u *url.URL, err error, answer, words *bounded) string {
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return "our own program could not be started: " + err.Error()
	case answer.over:
		return fmt.Sprintf("its library said more than %d bytes", answer.most)
	}
	text := "its library broke off without an answer"
	if exit != nil {
		text += " (" + exit.Error() + ")"
	}
	for line := range strings.Lines(string(words.text)) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			line = addresses().ReplaceAllString(OneLine(line), "…")
			w := watcher{secrets: secretsOf(u, s.hosted)}
			return text + ": " + w.short(line)
		}
	}
	return text
}

// bounded keeps the beginning of what is written to it, and takes the rest without keeping it.
type bounded struct {
	most int
	text []byte
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), b.most-len(b.text))
	b.text = append(b.text, p[:keep]...)
	b.over = b.over || keep < len(p)
	return len(p), nil
}
