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

// timersOf returns the timers of the units that the call names, or of those that systemd has.
func timersOf(ctx context.Context, s *cli.Call) (source, error) {
	me, err := user.Current()
	if err != nil {
		return source{}, problem.New(problem.Failed, problem.T("who calls cannot be told: %v", err),
			problem.T("call as a user of this machine"))
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
	from.group, from.part = groupOf(s, kindSystemd, folder), part
	disk := unit.Disk{Read: func(path string) (string, error) { return readUnit(ctx, s, path) },
		Glob: func(pattern string) []string {
			list, _ := filepath.Glob(pattern)
			return list
		}}
	for _, path := range files {
		r := timerReader{Call: s, me: me, group: from.group, disk: disk,
			own: strings.Contains(path, "/systemd/user/") || s.Opt.Bool("user")}
		r.manager = unit.Manager{Own: r.own, Home: "/root", User: "root", UID: "0"}
		if r.own {
			r.manager = unit.Manager{Own: true, Home: r.home(), User: me.Username, UID: me.Uid,
				Runtime: s.Getenv("XDG_RUNTIME_DIR")}
		}
		r.dirs = append([]string{filepath.Dir(path)}, unitDirs...)
		if r.own {
			r.dirs = append([]string{filepath.Dir(path), filepath.Join(r.home(), userDirs[0])}, userDirs[1:]...)
		}
		if r.timer, err = disk.Find(filepath.Base(path), r.dirs); err != nil {
			from.list = append(from.list, wanted{label: filepath.Base(path), text: path, err: notRead(theTimer, err)})
			continue
		}
		from.list = append(from.list, r.wanted()...)
	}
	return from, nil
}

// timersNamed returns the files of the timers that the call names, and the name of their folder.
// part says that they may be only some of the folder.
func timersNamed(s *cli.Call) (files []string, folder string, part bool, err error) {
	dirs := map[string]bool{}
	for _, name := range s.Args[1:] {
		path := absolute(s, name)
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

// timersEnabled returns the timers that a manager starts. They count as if they were in the first
// of the folders of units, although they may be in the others.
func timersEnabled(ctx context.Context, manager, dir string) (files []string, err error) {
	list, err := answerOf(ctx, "systemctl", manager, "list-unit-files", "--type=timer", "--state=enabled",
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
		return "", fmt.Errorf("%s is masked, or no file", path)
	}
	return readSource(ctx, s, path)
}

// These are the kinds of units in the messages of notRead.
const (
	theTimer   = "the timer"
	theService = "the service"
)

// notRead is the problem of a unit that cannot be read.
func notRead(what string, err error) error {
	var p *problem.Problem
	hint := problem.T("give files NAME.timer, or a folder of them")
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, fs.ErrNotExist):
		if what == theService {
			hint = problem.T("put it beside the timer, or where systemd has its units")
		}
		return problem.Of(problem.T("%s %s is not there", what,
			strings.TrimSuffix(err.Error(), ": "+fs.ErrNotExist.Error())), hint)
	}
	return problem.Of(problem.T("%s cannot be read: %v", what, err), hint)
}

// timerReader makes tasks of a timer.
type timerReader struct {
	*cli.Call
	me      *user.User
	group   string
	disk    unit.Disk
	dirs    []string // the folders of its units
	own     bool     // the units are those of the manager of a user
	manager unit.Manager
	timer   unit.Unit
}

func (r timerReader) home() string { return cmp.Or(r.Getenv("HOME"), r.me.HomeDir) }

// timerSettings are the settings of a timer beside its times: empty for those that are read, else
// why they are refused. A setting that is not here is refused by its name.
var timerSettings = map[string]string{
	"OnCalendar": "", "OnUnitActiveSec": "", "Unit": "", "Persistent": "", "RandomizedDelaySec": "",
	"FixedRandomDelay": "", "AccuracySec": "", "RemainAfterElapse": "",
	"OnBootSec": "", "OnStartupSec": "", "OnActiveSec": "", "WakeSystem": "", "DeferReactivation": "",
	"OnUnitInactiveSec": "it counts from the end of the run before",
	"OnClockChange":     "nothing here is started by a clock that is set",
	"OnTimezoneChange":  "nothing here is started by a zone that changes",
}

// wanted returns the tasks: one for each OnCalendar= and OnUnitActiveSec=.
func (r timerReader) wanted() (list []wanted) {
	name := strings.TrimSuffix(r.timer.Name, ".timer")
	label := func(s unit.Setting) string { return fmt.Sprintf("%s line %d", filepath.Base(s.Path), s.Line) }
	refuse := func(s unit.Setting, message, hint problem.Text) {
		list = append(list, wanted{line: s.Line, label: label(s), text: s.Name + "=" + s.Value,
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
		why, known := timerSettings[s.Name]
		switch {
		case s.Section == "Unit" && (strings.HasPrefix(s.Name, "Condition") || strings.HasPrefix(s.Name, "Assert")):
			notes = append(notes, s.Name+"= is asked when systemd starts the timer, and left out")
		case s.Section != "Timer":
		case !known || why != "":
			refuse(s, problem.T("%s= has no counterpart%s", s.Name,
				map[bool]string{true: ": " + why, false: ""}[why != ""]),
				problem.T("say when by OnCalendar= or OnUnitActiveSec=, or schedule it with %s",
					problem.Set("every", "1h")))
		case s.Name == "OnBootSec", s.Name == "OnStartupSec", s.Name == "OnActiveSec":
			if !repeats {
				refuse(s, problem.T("%s= has no counterpart: it is a time after a start", s.Name),
					problem.T("schedule it with %s, where the command begins with sleep",
						problem.To("at", tasks.BootText)))
			}
		case s.Name == "WakeSystem" && unit.Yes(s.Value):
			notes = append(notes, "WakeSystem= is left out: no machine is woken here")
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
func (r timerReader) task(key string, s unit.Setting) (w wanted) {
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
		if w.proof, w.err = r.prove(s.Value); w.err != nil {
			return w
		}
	} else {
		d, endless, err := unit.Span(s.Value)
		if err != nil || endless || d < time.Second {
			w.err = problem.Of(problem.T("%s=%s is not a time between two runs", s.Name, s.Value),
				problem.T("write a length of time, such as 1h 30min"))
			return w
		}
		text := seconds(d)
		w.spec.When, w.spec.Form = &text, when.EveryForm
		w.notes = append(w.notes, "it counts from the import on, and there from the last start of the service")
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
			delay := seconds(d)
			w.spec.Jitter = &delay
			if !unit.Yes(r.timer.Last("Timer", "FixedRandomDelay")) {
				w.notes = append(w.notes, "RandomizedDelaySec= is dealt once here, and anew each time there")
			}
		}
	}
	w.err = r.service(&w)
	return w
}

// instantsMost is how many instants of a year are compared.
const instantsMost = 600_000

// prove compares the instants of the coming year with those that systemd has by its own rules.
func (r timerReader) prove(text string) (func(*when.Schedule, time.Time) proof, error) {
	zone, err := r.Zone()
	if err != nil {
		return nil, err
	}
	event, err := unit.ParseEvent(text, zone)
	if err != nil {
		return nil, nil // the error of the time says what is wrong
	}
	return func(sched *when.Schedule, now time.Time) proof {
		to := now.AddDate(1, 0, 0)
		there := event.Instants(now, to, instantsMost+1)
		if len(there) > instantsMost {
			return proof{}
		}
		var here []time.Time
		for t, ok := sched.Next(now); ok && !t.After(to) && len(here) <= instantsMost; t, ok = sched.Next(t) {
			here = append(here, t)
		}
		return proof{len(here), compared(there, here), "systemd leaves out what is in a gap of the clock"}
	}, nil
}

// seconds writes a duration as options have it.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

// notFilled is the problem of a value with a % that only systemd can replace.
func (r timerReader) notFilled(s unit.Setting, err error) error {
	if errors.Is(err, unit.ErrTemplate) {
		return problem.Of(problem.T("it is a template, and %s=%s needs an instance", s.Name, s.Value),
			problem.T("name one, such as %s", strings.Replace(r.timer.Path, "@.", "@NAME.", 1)))
	}
	return problem.Of(problem.T("%s=%s: %v", s.Name, s.Value, err), problem.T("write it out"))
}

// These are settings of a service that its command needs, with what to do about them.
var serviceRefused = map[string]string{
	"EnvironmentFile":  "have the command read it: ExecStart=/bin/sh -c 'set -a; . FILE; exec COMMAND'",
	"PassEnvironment":  "write the variables out with Environment=",
	"UnsetEnvironment": "have a script do it, and the service start that",
	"ExecStopPost":     "have a script do both, and the service start that",
	"DynamicUser":      "name a user with User=", "SupplementaryGroups": "put the user into the groups",
	"RootDirectory": "", "RootImage": "", "StandardInput": "", "StandardInputText": "", "StandardInputData": "",
	"LoadCredential": "", "LoadCredentialEncrypted": "",
	"SetCredential": "", "ImportCredential": "", "StateDirectory": "make the folder, and take the line out",
	"RuntimeDirectory":       "make the folder in a script, and have the service start that",
	"CacheDirectory":         "make the folder, and take the line out",
	"LogsDirectory":          "make the folder, and take the line out",
	"ConfigurationDirectory": "make the folder, and take the line out",
	"PAMName":                "", "RootDirectoryStartOnly": "", "BindPaths": "", "BindReadOnlyPaths": "",
	"TemporaryFileSystem": "", "MountImages": "", "ExtensionImages": "",
}

// gates are conditions of a unit as tests of the shell, with what they name.
var gates = map[string]string{
	"ConditionDirectoryNotEmpty": `test -n "$(ls -A %s 2>/dev/null)"`,
	"ConditionPathExists":        "test -e %s", "ConditionPathIsDirectory": "test -d %s",
	"ConditionPathIsSymbolicLink": "test -L %s", "ConditionPathIsMountPoint": "mountpoint -q %s",
	"ConditionPathIsReadWrite": "test -w %s", "ConditionFileNotEmpty": "test -s %s",
	"ConditionFileIsExecutable": "test -f %[1]s && test -x %[1]s",
}

// machineGates are conditions about the machine as tests of the shell. When the system cannot tell,
// it counts as on mains power and not in a container.
var machineGates = map[string]string{
	"ConditionACPower=true":              "! grep -qs Discharging /sys/class/power_supply/*/status",
	"ConditionACPower=false":             "grep -qs Discharging /sys/class/power_supply/*/status",
	"ConditionVirtualization=container":  "systemd-detect-virt --container --quiet",
	"ConditionVirtualization=!container": "! systemd-detect-virt --container --quiet",
	"ConditionVirtualization=vm":         "systemd-detect-virt --vm --quiet",
	"ConditionVirtualization=!vm":        "! systemd-detect-virt --vm --quiet",
}

// These are settings of a service that do not change what its command does, or that are read
// elsewhere.
var (
	unitSilent = []string{"Description", "Documentation", "After", "Before", "DefaultDependencies",
		"RefuseManualStart", "RefuseManualStop", "SourcePath"}
	serviceSilent = []string{"User", "Group", "Type", "Environment", "StandardOutput", "StandardError",
		"SyslogIdentifier", "TimeoutStartSec", "TimeoutSec", "RuntimeMaxSec", "GuessMainPID"}
)

// serviceReader turns the command of a service into that of a task.
type serviceReader struct {
	timerReader
	unit.Unit
	env      map[string]string
	run      []string // the words before each command
	commands []string // the commands as lines for the shell
	words    []string // the words of the only command
	ifs      []string
}

// service gives the task the command of the service that the timer starts, or says what of it
// cannot be done here.
func (r timerReader) service(w *wanted) (err error) {
	name, err := r.manager.Fill(r.timer.Last("Timer", "Unit"), r.timer.Name)
	if err != nil {
		return r.notFilled(unit.Setting{Name: "Unit", Value: r.timer.Last("Timer", "Unit")}, err)
	}
	name = cmp.Or(name, strings.TrimSuffix(r.timer.Name, ".timer")+".service")
	switch {
	case strings.HasSuffix(name, "@.service"):
		return r.notFilled(unit.Setting{Name: "Unit", Value: name}, unit.ErrTemplate)
	case !strings.HasSuffix(name, ".service"):
		return problem.Of(problem.T("it starts %s, which is not a service", name),
			problem.T("schedule that: %s", problem.To("at", "WHEN").Running("systemctl", "start", name)))
	}
	u, err := r.disk.Find(name, r.dirs)
	if err != nil {
		return notRead(theService, err)
	}
	sr := serviceReader{timerReader: r, Unit: u}
	if err := sr.read(w); err != nil {
		var p *problem.Problem
		if errors.As(err, &p) {
			return p.About(problem.T("%s", name))
		}
		return problem.Of(problem.T("%s: %v", name, err), problem.T("have a script do it, and the service start that"))
	}
	return nil
}

// read is service for a unit that was found.
func (r *serviceReader) read(w *wanted) error {
	account, err := r.manager.Fill(cmp.Or(r.Last("Service", "User"),
		map[bool]string{true: r.me.Username, false: "root"}[r.own]), r.Name)
	if err != nil {
		return err
	}
	home, err := r.as(account)
	if err != nil {
		return err
	}
	around := &tasks.Surroundings{Dir: "/", Umask: 0o022,
		Env: map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"HOME": home, "USER": account, "LOGNAME": account}}
	for _, name := range []string{"OURO_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
		if value := r.Getenv(name); value != "" && (name == "OURO_HOME" || r.own) {
			around.Env[name] = value
		}
	}
	if r.own {
		around.Dir = home
	}
	r.env = around.Env
	w.world.Around = func() (*tasks.Surroundings, error) { return around, nil }
	for _, s := range r.Ignored {
		w.notes = append(w.notes, fmt.Sprintf("%s: line %d is not a setting, and left out: %s", r.Name,
			s.Line, s.Value))
	}
	for _, s := range r.Settings { // settings after a command count for it, too
		if s.Section == "Service" && s.Name == "Environment" {
			if err := r.manager.Pairs(s.Value, r.Name, func(name, value string) { r.env[name] = value }); err != nil {
				return fmt.Errorf("%s=%s: %w", s.Name, s.Value, err)
			}
		}
	}
	kind := cmp.Or(r.Last("Service", "Type"), "simple")
	switch {
	case slices.Contains([]string{"oneshot", "simple", "exec", "idle"}, kind):
	case slices.Contains([]string{"forking", "notify", "notify-reload", "dbus"}, kind):
		return problem.Of(problem.T("a service of Type=%s goes on after its command has ended", kind),
			problem.T("schedule a command that ends, such as systemctl start %s", r.Name))
	default:
		return problem.Of(problem.T("Type=%s is not a type of a service", kind),
			problem.T("write Type=oneshot; a comment needs a line of its own"))
	}
	for _, s := range r.Settings {
		if err := r.setting(w, s, around, kind == "oneshot"); err != nil {
			return err
		}
	}
	if err := r.limits(w, kind == "oneshot"); err != nil {
		return err
	}
	for _, phase := range []string{"ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost"} {
		if err := r.phase(w, phase, kind == "oneshot"); err != nil {
			return err
		}
	}
	if len(r.ifs) > 0 {
		gate := strings.Join(r.ifs, " && ")
		w.spec.If = &gate
	}
	if len(r.commands) == 1 && r.words != nil {
		w.spec.Command = slices.Concat(r.run, r.words)
	} else {
		w.spec.Command = slices.Concat(r.run, []string{"/bin/sh", "-c", strings.Join(r.commands, " && ")})
	}
	return nil
}

// setting reads what is not a command.
func (r *serviceReader) setting(w *wanted, s unit.Setting, around *tasks.Surroundings, oneshot bool) (err error) {
	hint, refused := serviceRefused[s.Name]
	gate, gated := gates[s.Name]
	note := func(format string, args ...any) { w.notes = append(w.notes, r.Name+": "+fmt.Sprintf(format, args...)) }
	hint = cmp.Or(hint, "have a script do it, and the service start that")
	if s.Value, err = r.filled(s); err != nil {
		return err
	}
	switch {
	case gated && s.Section == "Unit" && !strings.HasPrefix(s.Value, "|"):
		path, not := strings.CutPrefix(s.Value, "!")
		text := fmt.Sprintf(gate, state.ShellLine([]string{strings.TrimSpace(path)}))
		if not {
			text = "! { " + text + "; }"
		}
		r.ifs = append(r.ifs, text)
	case s.Section == "Unit" && machineGates[s.Name+"="+strings.ToLower(s.Value)] != "":
		r.ifs = append(r.ifs, machineGates[s.Name+"="+strings.ToLower(s.Value)])
	case strings.HasPrefix(s.Name, "Condition"), strings.HasPrefix(s.Name, "Assert"):
		return problem.Of(problem.T("%s= has no counterpart", s.Name),
			problem.T("ask it in the command of an ExecCondition=, and take the line out"))
	case refused:
		return problem.Of(problem.T("%s= has no counterpart", s.Name), problem.T("%s", hint))
	case s.Section == "Unit" && (s.Name == "OnFailure" || s.Name == "OnSuccess"):
		note("%s= is left out: --notify and --after do that here", s.Name)
	case s.Section == "Unit" && slices.Contains(unitSilent, s.Name), s.Section == "Install",
		strings.HasPrefix(s.Name, "X-"), strings.HasPrefix(s.Section, "X-"):
	case s.Section == "Service" && (slices.Contains(serviceSilent, s.Name) || strings.HasPrefix(s.Name, "Exec")):
		if strings.HasPrefix(s.Name, "Standard") {
			if target, path, ok := strings.Cut(s.Value, ":"); ok && target != "fd" {
				note("%s= is left out: what it writes is kept here, and not in %s", s.Name, path)
			}
		}
		if s.Name == "ExecReload" || s.Name == "ExecStop" {
			note("%s= is left out", s.Name)
		}
	case s.Name == "WorkingDirectory":
		dir := strings.TrimPrefix(s.Value, "-")
		if dir == "~" {
			dir = around.Env["HOME"]
		}
		if _, err := os.Stat(dir); err != nil && dir != s.Value {
			note("its folder %s is not there, and may be missing: it runs in /", dir)
			dir = "/"
		}
		around.Dir = dir
	case s.Name == "UMask":
		mask, err := strconv.ParseUint(s.Value, 8, 12)
		if err != nil {
			return problem.Of(problem.T("UMask=%s is not a mask", s.Value),
				problem.T("write it in octal digits: UMask=0022"))
		}
		around.Umask = int(mask)
	default:
		note("%s= is left out", s.Name)
	}
	return nil
}

// filled replaces the % of a value, in a setting that is not read in words.
func (r *serviceReader) filled(s unit.Setting) (string, error) {
	if strings.HasPrefix(s.Name, "Exec") || s.Name == "Environment" || s.Name == "Description" {
		return s.Value, nil
	}
	value, err := r.manager.Fill(s.Value, r.Name)
	if err != nil && (s.Name == "WorkingDirectory" || gates[s.Name] != "" || s.Name == "UMask") {
		return "", fmt.Errorf("%s=%s: %w", s.Name, s.Value, err)
	}
	return value, nil
}

// limits reads how long the command may take: for a oneshot the time of its start, for others that
// of their run.
func (r *serviceReader) limits(w *wanted, oneshot bool) error {
	name := map[bool]string{true: "TimeoutStartSec", false: "RuntimeMaxSec"}[oneshot]
	for _, s := range r.Settings {
		if s.Section != "Service" || s.Name != name && (!oneshot || s.Name != "TimeoutSec") {
			continue
		}
		d, endless, err := unit.Span(s.Value)
		if err != nil {
			return problem.Of(problem.T("%s=%s is not a length of time", s.Name, s.Value),
				problem.T("write one, such as 90 or 1h 30min"))
		}
		w.spec.Timeout = nil
		if !endless && d > 0 {
			span := seconds(d)
			w.spec.Timeout = &span
		}
	}
	return nil
}

// phase reads the commands of one phase of the service, which come one after the other.
func (r *serviceReader) phase(w *wanted, phase string, oneshot bool) error {
	none := true
	for _, s := range r.Settings {
		if s.Section != "Service" || s.Name != phase {
			continue
		}
		if phase == "ExecStartPost" && !oneshot {
			return problem.Of(problem.T("ExecStartPost= of a service that is not a oneshot runs beside its command"), problem.T("write Type=oneshot"))
		}
		list, err := r.manager.Commands(s.Value, r.Name, r.env)
		if err != nil {
			return fmt.Errorf("%s=%s: %w", s.Name, s.Value, err)
		}
		for _, c := range list {
			none = false
			for _, name := range c.Unset {
				w.notes = append(w.notes, fmt.Sprintf("%s: %s is set by nothing, and stands for nothing", r.Name, name))
			}
			line := state.ShellLine(c.Words)
			if phase == "ExecCondition" {
				r.ifs = append(r.ifs, state.ShellLine(slices.Concat(r.run, c.Words)))
				continue
			}
			if r.words = c.Words; c.Spared {
				line, r.words = "{ "+line+" || true; }", nil
			}
			r.commands = append(r.commands, line)
		}
	}
	if none && phase == "ExecStart" {
		return problem.Of(problem.T("it has no ExecStart="), problem.T("give a service that starts a command"))
	}
	return nil
}

// as returns the words before the commands of a service that runs as another user, and the home of
// that user.
func (r *serviceReader) as(account string) (home string, err error) {
	group, err := r.manager.Fill(r.Last("Service", "Group"), r.Name)
	if err != nil {
		return "", err
	}
	if r.Opt.Bool("as-me") {
		return r.home(), nil
	}
	other := r.me
	if account != r.me.Username && account != r.me.Uid {
		if r.me.Uid != "0" {
			return "", problem.New(problem.NotAllowed, problem.T("it runs as %s, and you are %s", account,
				r.me.Username), problem.T("import it as that user, or as root; %s has it run as you",
				problem.Option("as-me")))
		}
		if other, err = user.Lookup(account); err != nil {
			if other, err = user.LookupId(account); err != nil {
				return "", problem.Of(problem.T("it runs as %s, and there is no such user here",
					cli.Quote(account)), problem.T("make the user first; %s has it run as you",
					problem.Option("as-me")))
			}
		}
		r.run = []string{"runuser", "-u", other.Username}
	}
	if group != "" {
		g, err := user.LookupGroup(group)
		if err != nil {
			g, err = user.LookupGroupId(group)
		}
		switch {
		case err != nil:
			return "", problem.Of(problem.T("Group=%s: there is no such group here", group),
				problem.T("make the group first; %s has it run as you", problem.Option("as-me")))
		case g.Gid == other.Gid:
		case r.me.Uid != "0":
			return "", problem.New(problem.NotAllowed, problem.T("it runs in the group %s, and that is not yours",
				group), problem.T("import it as root; %s has it run as you", problem.Option("as-me")))
		default:
			r.run = []string{"runuser", "-u", other.Username, "-g", g.Name}
		}
	}
	if r.run != nil {
		r.run = append(r.run, "--")
		return other.HomeDir, nil
	}
	return r.home(), nil
}
