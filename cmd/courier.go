package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// courier tells notices for a runner, which may live for months: config.toml is read again when it has changed. It is used by
// many goroutines.
type courier struct {
	st    state.Store
	env   notify.Env
	clock func() time.Time
	dir   string // of config.toml

	mu     sync.Mutex
	stamp  string // of config.toml, as it was last read
	config state.Config
	err    error
}

// newCourier is the courier of a runner that begins with that configuration.
func (s *session) newCourier(st state.Store, config state.Config) (*courier, error) {
	env, err := s.notifyEnv()
	if err != nil {
		return nil, err
	}
	dir, err := s.home()
	if err != nil {
		return nil, err
	}
	return &courier{st: st, env: env, clock: s.Clock.Now, dir: dir, config: config}, nil
}

// settings is the configuration as it is now; with an error, as it last was.
func (c *courier) settings() (state.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stamp := "none"
	if info, err := os.Stat(filepath.Join(c.dir, "config.toml")); err == nil {
		stamp = fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Mode())
	}
	if stamp == c.stamp {
		return c.config, c.err
	}
	c.stamp = stamp
	config, err := files.LoadConfig(c.dir)
	if c.err = err; err == nil {
		c.config = config
	}
	return c.config, c.err
}

// standing is who is told of tasks that do not say.
func (c *courier) standing() runner.Standing {
	config, _ := c.settings() // while it cannot be read, as it was
	return runner.Standing{Channels: config.Notify.Default, On: config.Notify.On}
}

// send makes an attempt to tell a notice.
func (c *courier) send(ctx context.Context, n state.Notice) (detail string, err error) {
	config, err := c.settings()
	if err != nil {
		return "", err // somebody is about to mend it
	}
	channel, err := notify.Find(n.Channel, config.Channels)
	if err == nil {
		task := state.Task{Policy: state.Policy{Prefix: config.Notify.Prefix}}
		if found, e := c.st.Find(ctx, n.Line.TaskID); e == nil && len(found) == 1 {
			task = found[0].Task
			if task.Policy.Prefix == "" {
				task.Policy.Prefix = config.Notify.Prefix
			}
		}
		detail, err = notify.Send(ctx, channel, letterOf(c.st, n.Line, task, channel.Type, c.clock()), c.env)
	}
	var told *notify.Error
	if errors.As(err, &told) {
		if device := terminalOf(n.Channel); device != "" {
			if _, e := os.Stat(device); errors.Is(e, fs.ErrNotExist) {
				told.Permanent = true // closed: another one of that number is another one
			}
		}
		return "", &runner.SendError{Err: told, Permanent: told.Permanent, RetryAfter: told.RetryAfter}
	}
	return detail, err
}

const (
	// letterLines of what a command that failed has written are told.
	letterLines = 20
	// letterMost is how many bytes of output are told at the most.
	letterMost = 16 << 10
	// letterLate is by how much a message that is told later than it was due says so.
	letterLate = time.Minute
)

// letterOf is what is told of a line, by a channel of that type, at now.
func letterOf(st state.Store, l state.Line, t state.Task, kind string, now time.Time) notify.Message {
	zone := time.UTC
	if t.ID != "" {
		zone = taskZone(t)
	}
	m := notify.Message{ID: state.OccurrenceID(l.TaskID, l.Number), Event: eventOf(st, l, zone)}
	if l.News != state.NewsMessage {
		m.Subject = notify.OneLine(t.Policy.Prefix + l.Description)
		m.Body = reportOf(st, l)
		return m
	}
	m.Body = strings.ToValidUTF8(l.Text, "\uFFFD")
	if l.Due != nil && now.Sub(*l.Due) > letterLate {
		m.Body += " (due " + when.Distance(l.Due.In(zone), now.In(zone)) + " ago)"
	}
	switch described := t.Description != ""; {
	case kind == notify.TTY && described:
		m.Subject = notify.OneLine(t.Policy.Prefix + "Reminder: " + t.Description)
	case kind == notify.TTY:
		m.Subject = notify.OneLine(t.Policy.Prefix + "Reminder")
	case described:
		m.Subject = notify.OneLine(t.Policy.Prefix + t.Description)
	default:
		m.Body = t.Policy.Prefix + m.Body // whose first line is the subject where one is needed
	}
	return m
}

// reportOf is what is told of the end of a command: its output, when that is the news; else how it ended, and the last lines of what it wrote.
func reportOf(st state.Store, l state.Line) string {
	stdout, stderr := st.OutputPaths(l.TaskID, l.Number)
	if l.News == state.NewsOutput || l.News == state.NewsChange {
		path, was := stdout, l.Stdout
		if was.Bytes == 0 {
			path, was = stderr, l.Stderr
		}
		text, cut, err := proc.ReadTail(path, letterMost)
		body := strings.ToValidUTF8(strings.TrimRight(string(text), "\n"), "\uFFFD")
		switch {
		case err != nil:
			return plural(int(was.Bytes), "byte") + " of output, which is no longer kept"
		case body == "" && l.News == state.NewsChange:
			return "it has written nothing"
		case cut || was.Truncated:
			body += "\n(the end of " + plural(int(was.Bytes), "byte") + "; " + shellLine([]string{"ouro-timer", "log", state.OccurrenceID(l.TaskID, l.Number)}) + ")"
		}
		return body
	}
	body := outcomeWords(l)
	if l.News == state.NewsRecovery {
		body = "it works again: " + body
	}
	for _, path := range []string{stderr, stdout} {
		text, _, err := proc.ReadTail(path, letterMost)
		if text = bytes.TrimRight(text, "\n"); err != nil || len(text) == 0 {
			continue
		}
		lines := strings.Split(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")
		return body + "\n\n" + strings.Join(lines[max(0, len(lines)-letterLines):], "\n")
	}
	return body
}

// eventOf is what a program gets to know: the line as log --json shows it, with the texts of its output.
func eventOf(st state.Store, l state.Line, zone *time.Location) json.RawMessage {
	row := asLineJSON(l, zone)
	if row.Stdout != nil {
		stdout, stderr := st.OutputPaths(l.TaskID, l.Number)
		row.Stdout.read(stdout)
		row.Stderr.read(stderr)
	}
	text, err := json.Marshal(row)
	if err != nil {
		return nil // it has none, then
	}
	return text
}
