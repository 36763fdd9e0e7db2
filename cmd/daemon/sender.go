package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// sender sends notices to channels for a runner. A runner may live for months, so the sender reads
// config.toml again when it has changed. Many goroutines use it.
type sender struct {
	st    state.Store
	env   notify.Env
	clock func() time.Time
	dir   string // the folder of config.toml
	host  string // the name of this machine

	starts *startPings

	mu       sync.Mutex
	stamp    string // the stamp of config.toml when it was last read
	config   state.Config
	err      error
	reported state.Config // the configuration at the last call of reread
}

// newSender returns the sender of a runner that begins with a configuration.
func newSender(s *cli.Call, st state.Store, config state.Config) (*sender, error) {
	env, err := handover.NotifyEnv(s)
	if err != nil {
		return nil, err
	}
	dir, err := s.Home()
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine" // the machine has no name
	}
	return &sender{st: st, env: env, clock: s.Clock.Now, dir: dir, host: host, starts: newStartPings(),
		config: config, reported: config}, nil
}

// settings returns the configuration as it is now. With an error it is the last one that could be
// read.
func (c *sender) settings() (state.Config, error) {
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
	config, err := settings.Load(c.dir)
	if c.err = err; err == nil {
		c.config = config
	}
	return c.config, c.err
}

// reread reads config.toml, and returns which settings have changed since its last call, or since
// the runner began.
func (c *sender) reread() (changed []string, err error) {
	c.mu.Lock()
	c.stamp = "" // the file is read even if it looks the same
	c.mu.Unlock()
	config, err := c.settings()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, c.reported = differing(c.reported, config), config
	return changed, nil
}

// latest returns the last configuration that could be read.
func (c *sender) latest() state.Config {
	config, _ := c.settings()
	return config
}

// setOptions makes a runner send by the sender, and follow the configuration.
func (c *sender) setOptions(o *runner.Options) {
	o.Send = c.send
	o.Standing = func() rules.TellDefaults {
		config := c.latest()
		return rules.TellDefaults{Channels: config.Notify.Default, On: config.Notify.On, Prefix: config.Notify.Prefix,
			Beats: config.Heartbeats()}
	}
	o.GiveUp = func() time.Duration {
		d, _ := state.ParseSpan(c.latest().Notify.GiveUp) // 0 when config.toml does not say
		return d
	}
	o.Allow = func() []string { return c.latest().Run.Allow }
	o.Keep = func() state.Keep { return cli.Keep(c.latest()) }
	o.MaxParallel = func() int { return cmp.Or(c.latest().Run.MaxParallel, parallel) }
}

// envOf returns the environment of a notice about a task. What a program of a channel schedules has
// that task as its origin.
func (c *sender) envOf(t state.Task) notify.Env {
	env := c.env
	if environ := env.Environ; environ != nil {
		env.Environ = func() []string {
			list := slices.DeleteFunc(slices.Clone(environ()),
				func(pair string) bool { return strings.HasPrefix(pair, runner.OriginVariable+"=") })
			return append(list, runner.OriginVariable+"="+t.ChildOrigin())
		}
	}
	return env
}

// send makes one attempt to send a notice. An error that only the other side can correct is
// permanent. An error that the user can correct, such as a missing key, may be gone at the next
// attempt; log, doctor and the runner's log show it meanwhile.
func (c *sender) send(ctx context.Context, n state.Notice) (detail string, err error) {
	config, err := c.settings()
	if err != nil {
		return "", err // config.toml cannot be read now
	}
	channel, err := notify.Find(n.Channel, config.Channels)
	if err != nil {
		return "", &notifier.SendError{Err: err}
	}
	task, tally := c.taskOf(ctx, n.Line.TaskID, config.Notify.Prefix)
	var message notify.Message
	if channel.Type == notify.Heartbeat {
		detail, err = c.pingEnd(ctx, n, channel, task, tally)
	} else {
		message = compose(ctx, c.st, n.Line, task, channel, c.host, c.clock())
		detail, err = notify.Send(ctx, channel, message, c.envOf(task))
	}
	var told *notify.Error
	if !errors.As(err, &told) {
		return detail, err
	}
	permanent := told.Permanent && !told.Here // what the user can correct is tried again
	isMessage := false
	if device := handover.TerminalOf(n.Channel); device != "" {
		// The desktop takes the message when the terminal is gone.
		if isMessage = n.Line.News == state.NewsMessage; isMessage {
			if detail, e := notify.Send(ctx, state.Channel{Name: notify.Desktop, Type: notify.Desktop}, message,
				c.envOf(task)); e == nil {
				return detail + ", as " + told.Error(), nil
			}
		}
		if _, e := os.Stat(device); errors.Is(e, fs.ErrNotExist) {
			// The terminal was closed; a new one of that number is another terminal.
			permanent = true
		}
	}
	return "", &notifier.SendError{Err: told, Permanent: permanent, RetryAfter: told.RetryAfter, Known: isMessage}
}
