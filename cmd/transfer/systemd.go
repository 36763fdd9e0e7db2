package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/unit"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// unitDirs are the folders of the units of the system. userDirs are those of a user; the first of
// them is below the home.
var (
	unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
		"/usr/lib/systemd/system", "/lib/systemd/system"}
	userDirs = []string{".config/systemd/user", "/etc/systemd/user", "/usr/local/lib/systemd/user",
		"/usr/lib/systemd/user"}
)

// readTimers returns the timers of the units that the call names, or of those that systemd has.
func readTimers(ctx context.Context, s *cli.Call) (source, error) {
	me, err := currentUser()
	if err != nil {
		return source{}, err
	}
	from := source{name: strings.Join(s.Args[1:], " ")}
	files, folder, part, err := timersNamed(s)
	if len(s.Args) == 1 {
		manager := map[bool]string{false: "--system", true: "--user"}[s.Opt.Bool("user")]
		from.name, folder = "systemctl "+manager, strings.TrimPrefix(manager, "--")
		dir := unitDirs[0]
		if s.Opt.Bool("user") {
			dir = filepath.Join(cmp.Or(s.Getenv("HOME"), me.HomeDir), userDirs[0])
		}
		files, err = timersEnabled(ctx, manager, dir)
	}
	if err != nil {
		return source{}, err
	}
	from.group, from.partial = groupOf(s, kindSystemd, folder), part
	disk := unit.Disk{Read: func(path string) (string, error) { return readUnit(ctx, s, path) },
		Glob: func(pattern string) []string {
			list, _ := filepath.Glob(pattern)
			return list
		}}
	for _, path := range files {
		r := timerReader{Call: s, me: me, group: from.group, disk: disk,
			ofUser: strings.Contains(path, "/systemd/user/") || s.Opt.Bool("user")}
		r.manager = unit.Manager{Own: r.ofUser, Home: "/root", User: "root", UID: "0"}
		if r.ofUser {
			r.manager = unit.Manager{Own: true, Home: r.home(), User: me.Username, UID: me.Uid,
				Runtime: s.Getenv("XDG_RUNTIME_DIR")}
		}
		r.dirs = append([]string{filepath.Dir(path)}, unitDirs...)
		if r.ofUser {
			r.dirs = append([]string{filepath.Dir(path), filepath.Join(r.home(), userDirs[0])}, userDirs[1:]...)
		}
		if r.timer, err = disk.Find(filepath.Base(path), r.dirs); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = problem.Of(problem.T("it is neither in %s nor where systemd has its units", filepath.Dir(path)), giveTimers)
			}
			from.list = append(from.list, sourceTask{label: filepath.Base(path), text: path, err: unreadable(theTimer, err)})
			continue
		}
		from.list = append(from.list, r.tasks()...)
	}
	return from, nil
}

// timersNamed returns the files of the timers that the call names, and the name of their folder.
// part says that they may be only some of the folder.
func timersNamed(s *cli.Call) (files []string, folder string, part bool, err error) {
	dirs := map[string]bool{}
	for _, name := range s.Args[1:] {
		path := cli.Absolute(s, name)
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			found, err := filepath.Glob(filepath.Join(path, "*.timer"))
			if _, unread := os.ReadDir(path); unread != nil {
				return nil, "", false, problem.Of(problem.T("the folder cannot be read: %v", unread),
					problem.T("give a folder that can be read, or files NAME.timer"))
			}
			if len(found) == 0 || err != nil {
				return nil, "", false, problem.Of(problem.T("the folder %s has no timers", cli.Quote(name)),
					problem.T("give a folder with files NAME.timer, or such files"))
			}
			files, folder = append(files, found...), path
			dirs[path] = true
			continue
		}
		if filepath.Ext(path) != ".timer" {
			return nil, "", false, problem.Of(problem.T("%s is not a timer", cli.Quote(name)),
				problem.T("give the file NAME.timer that starts it, or a folder of such files"))
		}
		if s.Opt.Bool("prune") && !s.Opt.Has("group") {
			return nil, "", false, problem.Of(problem.T("%s would remove all other timers of the folder of %s",
				problem.Option("prune"), cli.Quote(name)),
				problem.T("give the folder: %s; or a group of its own: %s",
					problem.To("import", kindSystemd, filepath.Dir(path)).With("prune", true),
					problem.Set("group", "mine")))
		}
		files, folder = append(files, path), filepath.Dir(path)
		dirs[folder], part = true, !s.Opt.Has("group")
	}
	if len(dirs) > 1 && !s.Opt.Has("group") {
		return nil, "", false,
			problem.Of(problem.T("the timers are in several folders, and their keys are named after one"),
				problem.T("name the group: %s; or import one folder after the other", problem.Set("group", "mine")))
	}
	return files, folder, part, nil
}

// timersEnabled returns the timers that a manager starts. It names them in the first folder of
// units, although they may be in others.
func timersEnabled(ctx context.Context, manager, dir string) (files []string, err error) {
	list, err := outputOf(ctx, "systemctl", manager, "list-unit-files", "--type=timer", "--state=enabled",
		"--plain", "--no-legend")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) > 0 {
			files = append(files, filepath.Join(dir, fields[0]))
		}
	}
	return files, nil
}

// readUnit reads a unit file. It refuses one that is masked.
func readUnit(ctx context.Context, s *cli.Call, path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is masked, or is not a file", path)
	}
	return readSource(ctx, s, path)
}

// These are the kinds of units in the messages of unreadable.
const (
	theTimer   = "the timer"
	theService = "the service"
)

var giveTimers = problem.T("give files NAME.timer, or a folder of them")

// unreadable is the problem of a unit that cannot be read.
func unreadable(what string, err error) error {
	var p *problem.Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, fs.ErrNotExist):
		return problem.Of(problem.T("%s %s is not there", what,
			strings.TrimSuffix(err.Error(), ": "+fs.ErrNotExist.Error())), problem.T("put it beside the timer, or where systemd has its units"))
	}
	return problem.Of(problem.T("%s cannot be read: %v", what, err), giveTimers)
}

// timerReader makes tasks of a timer.
type timerReader struct {
	*cli.Call
	me      *user.User
	group   string
	disk    unit.Disk
	dirs    []string // the folders of its units
	ofUser  bool     // the units are those of the manager of a user
	manager unit.Manager
	timer   unit.Unit
}

func (r timerReader) home() string { return cmp.Or(r.Getenv("HOME"), r.me.HomeDir) }

// timerSettings are the settings of a timer. The text is empty when the setting is read or left
// out, else it says why the setting is refused. A setting that is not here is refused by its name.
var timerSettings = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"OnCalendar": "", "OnUnitActiveSec": "", "Unit": "", "Persistent": "", "RandomizedDelaySec": "",
		"FixedRandomDelay": "", "AccuracySec": "", "RemainAfterElapse": "",
		"OnBootSec": "", "OnStartupSec": "", "OnActiveSec": "", "WakeSystem": "", "DeferReactivation": "",
		"OnUnitInactiveSec": "it counts from the end of the run before",
		"OnClockChange":     "setting the clock starts nothing here",
		"OnTimezoneChange":  "changing the zone starts nothing here",
	}
})

// tasks returns the tasks of the timer: one for each OnCalendar= and OnUnitActiveSec=.
func (r timerReader) tasks() (list []sourceTask) {
	name := strings.TrimSuffix(r.timer.Name, ".timer")
	label := func(s unit.Setting) string { return fmt.Sprintf("%s line %d", filepath.Base(s.Path), s.Line) }
	refuse := func(s unit.Setting, message, hint problem.Text) {
		list = append(list, sourceTask{line: s.Line, label: label(s), text: s.Name + "=" + s.Value,
			err: problem.Of(message, hint)})
	}
	var notes []string
	for _, s := range r.timer.Ignored {
		notes = append(notes, fmt.Sprintf("line %d is not a setting, and left out: %s", s.Line, s.Value))
	}
	repeats := r.timer.Has("Timer", "OnUnitActiveSec")
	n := 0
	for _, s := range r.timer.Settings {
		text := s.Name + "=" + s.Value
		why, known := timerSettings()[s.Name]
		switch {
		case s.Section == "Unit" && (strings.HasPrefix(s.Name, "Condition") || strings.HasPrefix(s.Name, "Assert")):
			notes = append(notes, s.Name+"= is left out: systemd checks it when it starts the timer")
		case s.Section != "Timer":
		case !known || why != "":
			refuse(s, problem.T("%s= has no counterpart%s", s.Name,
				map[bool]string{true: ": " + why, false: ""}[why != ""]),
				problem.T("say when by OnCalendar= or OnUnitActiveSec=, or schedule it with %s",
					problem.Set("every", "1h")))
		case s.Name == "OnBootSec", s.Name == "OnStartupSec", s.Name == "OnActiveSec":
			if repeats {
				notes = append(notes, s.Name+"= is left out: the first run comes one interval after the import")
				break
			}
			refuse(s, problem.T("%s= has no counterpart: it counts from a start", s.Name),
				problem.T("schedule it with %s, where the command begins with sleep",
					problem.To("at", tasks.BootText)))
		case s.Name == "WakeSystem" && unit.Yes(s.Value):
			notes = append(notes, "WakeSystem= is left out: ouro-timer wakes no machine")
		case s.Name == "OnCalendar", s.Name == "OnUnitActiveSec":
			key := r.group + name
			if n++; n > 1 {
				key += fmt.Sprintf(".%d", n)
			}
			w := r.task(key, s)
			w.line, w.label, w.text = s.Line, label(s), text
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		refuse(unit.Setting{Path: r.timer.Path, Line: 1, Name: "OnCalendar"},
			problem.T("it has no OnCalendar= in [Timer]"), problem.T("give the unit of a timer"))
	}
	for i := range list {
		list[i].notes = append(slices.Clone(notes), list[i].notes...)
	}
	return list
}

// task returns the task that the timer starts at one of its events.
func (r timerReader) task(key string, s unit.Setting) (w sourceTask) {
	w.world = schedule.WorldOf(r.Call)
	w.spec = tasks.Spec{When: &s.Value, Form: when.CalendarForm, Key: &key}
	catchup := state.CatchupSkip
	if s.Name == "OnCalendar" {
		if s.Value, w.err = r.manager.Fill(s.Value, r.timer.Name); w.err != nil {
			w.err = r.notFilled(s, w.err)
			return w
		}
		if unit.Yes(r.timer.Last("Timer", "Persistent")) {
			catchup = state.CatchupOnce
		}
		if w.compare, w.err = r.comparer(s.Value); w.err != nil {
			return w
		}
	} else {
		d, endless, err := unit.Span(s.Value)
		if err != nil || endless || d < time.Second {
			w.err = problem.Of(problem.T("%s=%s is not a time between two runs", s.Name, s.Value),
				problem.T("write a length of time, such as 1h 30min"))
			return w
		}
		text := inSeconds(d)
		w.spec.When, w.spec.Form = &text, when.EveryForm
		w.notes = append(w.notes, "here it counts from the import, and in systemd from the last start of the service")
		for _, begin := range []string{"OnBootSec", "OnStartupSec"} {
			if r.timer.Has("Timer", begin) {
				// After a boot the timer does not wait as long as between two runs.
				catchup = state.CatchupOnce
			}
		}
	}
	w.spec.Catchup = &catchup
	if text := r.timer.Last("Timer", "RandomizedDelaySec"); text != "" {
		d, endless, err := unit.Span(text)
		if err != nil || endless {
			w.err = problem.Of(problem.T("RandomizedDelaySec=%s is not a length of time", text),
				problem.T("write one, such as 1h 30min"))
			return w
		}
		if d > 0 {
			w.spec.Jitter = new(inSeconds(d))
			if !unit.Yes(r.timer.Last("Timer", "FixedRandomDelay")) {
				w.notes = append(w.notes, "RandomizedDelaySec= is chosen once here, and by systemd anew each time")
			}
		}
	}
	w.err = r.service(&w)
	return w
}

// comparer returns a function that compares the instants of the coming year with those that systemd
// has by its own rules.
func (r timerReader) comparer(text string) (func(*when.Schedule, time.Time) comparison, error) {
	zone, err := r.Zone()
	if err != nil {
		return nil, err
	}
	event, err := unit.ParseEvent(text, zone)
	if err != nil {
		return nil, nil // reading the time refuses it with a message
	}
	return func(sched *when.Schedule, now time.Time) comparison {
		to := now.AddDate(1, 0, 0)
		there := event.Instants(now, to, instantsMost+1)
		if len(there) > instantsMost {
			return comparison{}
		}
		return compared(sched, now, to, there, "systemd skips what falls into a gap of the clock")
	}, nil
}

// inSeconds writes a duration as options have it.
func inSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

// notFilled is the problem of a value with a % that only systemd can replace.
func (r timerReader) notFilled(s unit.Setting, err error) error {
	if errors.Is(err, unit.ErrTemplate) {
		return problem.Of(problem.T("it is a template, and %s=%s needs an instance", s.Name, s.Value),
			problem.T("name one, such as %s", strings.Replace(r.timer.Path, "@.", "@NAME.", 1)))
	}
	return problem.Of(problem.T("%s=%s: %v", s.Name, s.Value, err), problem.T("write it out"))
}
