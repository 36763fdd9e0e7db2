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

// sender tells notices for a runner, which may live for months: config.toml is read again when it
// has changed. It is used by many goroutines.
type sender struct {
	st    state.Store
	env   notify.Env
	clock func() time.Time
	dir   string // of config.toml
	host  string // the name of this machine

	starts *starts

	mu     sync.Mutex
	stamp  string // of config.toml, as it was last read
	config state.Config
	err    error
	told   state.Config // what it was when somebody was last told what has changed
}

// newSender is the sender of a runner that begins with that configuration.
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
		host = "this machine" // it has no name
	}
	return &sender{st: st, env: env, clock: s.Clock.Now, dir: dir, host: host, starts: newStarts(),
		config: config, told: config}, nil
}

// settings is the configuration as it is now; with an error, as it last was.
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

// reread reads config.toml now, and says which settings have changed since it was last called, or
// since the beginning.
func (c *sender) reread() (changed []string, err error) {
	c.mu.Lock()
	c.stamp = "" // as if it had never been read
	c.mu.Unlock()
	config, err := c.settings()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, c.told = differing(c.told, config), config
	return changed, nil
}

// parallel is how many commands run at once.
func (c *sender) parallel() int {
	config, _ := c.settings() // while it cannot be read, as it was
	return cmp.Or(config.Run.MaxParallel, parallel)
}

// keep is how much of the past is kept.
func (c *sender) keep() state.Keep {
	config, _ := c.settings() // as above
	return cli.Keep(config)
}

// standing is who is told of tasks that do not say.
func (c *sender) standing() rules.TellDefaults {
	config, _ := c.settings() // while it cannot be read, as it was
	return rules.TellDefaults{Channels: config.Notify.Default, On: config.Notify.On, Prefix: config.Notify.Prefix,
		Beats: config.Heartbeats()}
}

// giveUp is how long what cannot be told is tried again; 0 when nothing is said.
func (c *sender) giveUp() time.Duration {
	config, _ := c.settings() // as above
	d, _ := state.ParseSpan(config.Notify.GiveUp)
	return d
}

// envOf is the world of a notice about a task: what a program of a channel schedules came of that
// task.
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

// allow are the patterns of what may run.
func (c *sender) allow() []string {
	config, _ := c.settings() // while it cannot be read, as it was
	return config.Run.Allow
}

// send makes an attempt to tell a notice. What only the other side can mend is permanent. What the
// user can, such as a key that is missing or a channel that is no longer in config.toml, may be
// gone at the next attempt, and is told meanwhile by log, doctor and the runner's log.
func (c *sender) send(ctx context.Context, n state.Notice) (detail string, err error) {
	config, err := c.settings()
	if err != nil {
		return "", err // somebody is about to mend it
	}
	channel, err := notify.Find(n.Channel, config.Channels)
	if err != nil {
		return "", &notifier.SendError{Err: err}
	}
	task, tally := c.taskOf(ctx, n.Line.TaskID, config.Notify.Prefix)
	var letter notify.Message
	if channel.Type == notify.Heartbeat {
		detail, err = c.beat(ctx, n, channel, task, tally)
	} else {
		letter = compose(ctx, c.st, n.Line, task, channel, c.host, c.clock())
		detail, err = notify.Send(ctx, channel, letter, c.envOf(task))
	}
	var told *notify.Error
	if !errors.As(err, &told) {
		return detail, err
	}
	permanent := told.Permanent && !told.Here // what somebody can mend here is tried until it is
	own := false
	if device := handover.TerminalOf(n.Channel); device != "" {
		// The desktop is there when the terminal is not.
		if own = n.Line.News == state.NewsMessage; own {
			if detail, e := notify.Send(ctx, state.Channel{Name: notify.Desktop, Type: notify.Desktop}, letter,
				c.envOf(task)); e == nil {
				return detail + ", as " + told.Error(), nil
			}
		}
		if _, e := os.Stat(device); errors.Is(e, fs.ErrNotExist) {
			permanent = true // closed: another one of that number is another one
		}
	}
	return "", &notifier.SendError{Err: told, Permanent: permanent, RetryAfter: told.RetryAfter, Known: own}
}
