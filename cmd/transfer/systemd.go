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

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// unitDirs are where units of the system are; those of a user are in userDirs, the first of them below the home.
var (
	unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}
	userDirs = []string{".config/systemd/user", "/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"}
)

// setting is a line of a unit file.
type setting struct {
	line                 int
	section, name, value string
}

// unitOf reads a unit file: its settings in order, where an empty value takes back those before it.
func unitOf(path string) (list []setting, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	section, begun := "", ""
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if begun == "" && (line == "" || line[0] == '#' || line[0] == ';') {
			continue
		}
		if rest, more := strings.CutSuffix(line, `\`); more {
			begun += rest + " "
			continue
		}
		line, begun = begun+line, ""
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		s := setting{i + 1, section, strings.TrimSpace(name), strings.TrimSpace(value)}
		if s.value == "" {
			list = slices.DeleteFunc(list, func(o setting) bool { return o.section == s.section && o.name == s.name })
			continue
		}
		list = append(list, s)
	}
	return list, nil
}

// last is the value that counts of a setting that may be there more than once.
func last(list []setting, section, name string) (value string) {
	for _, s := range list {
		if s.section == section && s.name == name {
			value = s.value
		}
	}
	return value
}

// timersOf are the timers of the units that the call names, or of those that systemd has.
func timersOf(ctx context.Context, s *cli.Call) (source, error) {
	me, err := user.Current()
	if err != nil {
		return source{}, problem.New(problem.Failed, problem.T("who calls cannot be told: %v", err), problem.T("call as a user of this machine"))
	}
	var files []string
	from := source{name: strings.Join(s.Args[1:], " ")}
	for _, name := range s.Args[1:] {
		path := absolute(s, name)
		if found, _ := filepath.Glob(filepath.Join(path, "*.timer")); found != nil {
			files = append(files, found...)
		} else {
			files = append(files, path)
		}
		from.group = groupOf(s, kindSystemd, path)
	}
	if len(s.Args) == 1 {
		manager := []string{"--system"}
		if s.Opt.Bool("user") {
			manager[0] = "--user"
		}
		from.name, from.group = "systemctl "+manager[0], groupOf(s, kindSystemd, strings.TrimPrefix(manager[0], "--"))
		list, err := answerOf(ctx, "systemctl", append(manager, "list-unit-files", "--type=timer", "--state=enabled", "--plain", "--no-legend")...)
		if err != nil {
			return source{}, err
		}
		for line := range strings.Lines(list) {
			fields := strings.Fields(line)
			if len(fields) == 0 {
				continue
			}
			path, err := answerOf(ctx, "systemctl", append(manager, "show", "--property=FragmentPath", "--value", fields[0])...)
			if err != nil {
				return source{}, err
			}
			files = append(files, strings.TrimSpace(path))
		}
	}
	for _, path := range files {
		list, err := unitOf(path)
		if err != nil {
			return source{}, problem.Of(problem.T("the unit cannot be read: %v", err), problem.T("give files NAME.timer, or a folder of them"))
		}
		from.list = append(from.list, timerReader{Call: s, me: me, group: from.group, path: path, timer: list}.wanted()...)
	}
	return from, nil
}

// timerReader makes tasks of a timer.
type timerReader struct {
	*cli.Call
	me    *user.User
	group string
	path  string
	timer []setting
}

// What a timer says besides when it comes; what is in neither list is refused by its name.
var timerKept = []string{"OnCalendar", "Unit", "Persistent", "RandomizedDelaySec", "FixedRandomDelay", "AccuracySec", "RemainAfterElapse"}

// wanted are the tasks, one for each OnCalendar.
func (r timerReader) wanted() (list []wanted) {
	file := filepath.Base(r.path)
	name := strings.TrimSuffix(file, ".timer")
	refuse := func(line int, text string, message, hint problem.Text) {
		list = append(list, wanted{line: line, label: fmt.Sprintf("%s line %d", file, line), text: text, err: problem.Of(message, hint)})
	}
	n := 0
	for _, s := range r.timer {
		text := s.name + "=" + s.value
		switch {
		case s.section != "Timer":
		case !slices.Contains(timerKept, s.name):
			refuse(s.line, text, problem.T("%s= has no counterpart: it does not count from the clock on the wall", s.name), problem.T("say when by OnCalendar=, or schedule it with %s", problem.Set("every", "1h")))
		case s.name == "OnCalendar":
			key := r.group + name
			if n++; n > 1 {
				key += fmt.Sprintf(".%d", n)
			}
			w := r.task(key, s.value)
			w.line, w.label, w.text = s.line, fmt.Sprintf("%s line %d", file, s.line), text
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		refuse(1, file, problem.T("it has no OnCalendar= in [Timer]"), problem.T("give the unit of a timer"))
	}
	return list
}

// task is what the timer starts at one of its events.
func (r timerReader) task(key, event string) (w wanted) {
	w.world = schedule.WorldOf(r.Call)
	w.spec = tasks.Spec{When: &event, Form: when.CalendarForm, Key: &key}
	catchup := state.CatchupSkip
	if isYes(last(r.timer, "Timer", "Persistent")) {
		catchup = state.CatchupOnce
	}
	w.spec.Catchup = &catchup
	if delay := last(r.timer, "Timer", "RandomizedDelaySec"); delay != "" && delay != "0" {
		delay = inSeconds(delay)
		w.spec.Jitter = &delay
		if !isYes(last(r.timer, "Timer", "FixedRandomDelay")) {
			w.notes = append(w.notes, "RandomizedDelaySec= is dealt once here, and anew each time there")
		}
	}
	w.err = r.service(&w)
	return w
}

func isYes(value string) bool {
	return slices.Contains([]string{"1", "yes", "y", "true", "t", "on"}, strings.ToLower(value))
}

// inSeconds is a length of time of a unit file: a number alone is seconds.
func inSeconds(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text + "s"
	}
	return text
}

// serviceRefused are settings of a service without which its command would do something else.
var serviceRefused = []string{
	"EnvironmentFile", "PassEnvironment", "UnsetEnvironment", "ExecStartPre", "ExecStartPost", "ExecCondition", "ExecStopPost", "DynamicUser", "Group",
	"SupplementaryGroups", "RootDirectory", "RootImage", "StandardInput", "StandardInputText", "StandardInputData", "LoadCredential", "SetCredential",
	"StateDirectory", "RuntimeDirectory", "CacheDirectory", "PAMName",
}

// service gives the task the command of the service that the timer starts, or says what of it cannot be had.
func (r timerReader) service(w *wanted) error {
	name := cmp.Or(last(r.timer, "Timer", "Unit"), strings.TrimSuffix(filepath.Base(r.path), ".timer")+".service")
	own := strings.Contains(r.path, "/systemd/user/") || r.Opt.Bool("user")
	home := cmp.Or(r.Getenv("HOME"), r.me.HomeDir)
	unit, path, err := r.find(name, own, home)
	if err != nil {
		return err
	}
	if drops, _ := filepath.Glob(path + ".d/*.conf"); len(drops) > 0 {
		return problem.Of(problem.T("%s has drop-ins, which are not read: %s", name, strings.Join(drops, " ")), problem.T("put them into the unit: systemctl cat %s", name))
	}
	env := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	around := &tasks.Surroundings{Dir: "/", Umask: proc.Umask(), Env: env}
	if own {
		around.Dir = home
	}
	account := cmp.Or(last(unit, "Service", "User"), map[bool]string{true: r.me.Username, false: "root"}[own])
	run, err := r.as(account)
	if err != nil {
		return err
	}
	env["HOME"], env["USER"], env["LOGNAME"] = home, account, account
	if dir := r.Getenv("OURO_HOME"); dir != "" {
		env["OURO_HOME"] = dir
	}
	var commands []string
	var words []string
	for _, s := range unit {
		refused := problem.Of(problem.T("%s: %s= has no counterpart", name, s.name), problem.T("have a script do it, and the service start that"))
		switch {
		case strings.HasPrefix(s.name, "Condition"), strings.HasPrefix(s.name, "Assert"), slices.Contains(serviceRefused, s.name):
			return refused
		case s.section != "Service":
		case s.name == "Type":
			if !slices.Contains([]string{"oneshot", "simple", "exec", "idle"}, s.value) {
				return problem.Of(problem.T("%s: a service of Type=%s goes on after its command has ended", name, s.value), problem.T("schedule a command that ends, such as systemctl start %s", name))
			}
		case s.name == "ExecStart":
			text, spared := strings.CutPrefix(s.value, "-")
			if words, err = unitWords(text); err != nil {
				return problem.Of(problem.T("%s: ExecStart=%s: %v", name, s.value, err), problem.T("have a script do it, and the service start that"))
			}
			line := state.ShellLine(words)
			if spared {
				line = "{ " + line + " || true; }"
				words = nil
			}
			commands = append(commands, line)
		case s.name == "Environment":
			pairs, err := unitWords(s.value)
			if err != nil {
				return problem.Of(problem.T("%s: Environment=%s: %v", name, s.value, err), problem.T("write the value out"))
			}
			for _, pair := range pairs {
				name, value, _ := strings.Cut(pair, "=")
				env[name] = value
			}
		case s.name == "WorkingDirectory":
			around.Dir = strings.TrimPrefix(s.value, "-")
			if around.Dir == "~" {
				around.Dir = home
			}
		case s.name == "UMask":
			mask, err := strconv.ParseUint(s.value, 8, 12)
			if err != nil {
				return refused
			}
			around.Umask = int(mask)
		case s.name == "TimeoutStartSec", s.name == "TimeoutSec", s.name == "RuntimeMaxSec":
			if span := inSeconds(s.value); span != "infinity" {
				w.spec.Timeout = &span
			}
		case s.name == "User", s.name == "RemainAfterExit", s.name == "StandardOutput", s.name == "StandardError", s.name == "SyslogIdentifier":
		default:
			w.notes = append(w.notes, fmt.Sprintf("%s: %s= is left out", name, s.name))
		}
	}
	switch {
	case len(commands) == 0:
		return problem.Of(problem.T("%s has no ExecStart=", name), problem.T("give a service that starts a command"))
	case len(commands) == 1 && words != nil:
		w.spec.Command = append(run, words...)
	default:
		w.spec.Command = append(run, "/bin/sh", "-c", strings.Join(commands, " && "))
	}
	w.world.Around = func() (*tasks.Surroundings, error) { return around, nil }
	return nil
}

// as is what stands in front of the command of a service that runs as somebody else.
func (r timerReader) as(account string) ([]string, error) {
	switch {
	case account == r.me.Username, r.Opt.Bool("as-me"):
		return nil, nil
	case r.me.Uid == "0":
		return []string{"runuser", "-u", account, "--"}, nil
	}
	return nil, problem.New(problem.NotAllowed, problem.T("it runs as %s, and you are %s", account, r.me.Username), problem.T("import it as that user, or as root; %s has it run as you", problem.Option("as-me")))
}

// find reads the unit of a service: beside the timer, or where systemd has its units.
func (r timerReader) find(name string, own bool, home string) (unit []setting, path string, err error) {
	dirs := append([]string{filepath.Dir(r.path)}, unitDirs...)
	if own {
		dirs = append([]string{filepath.Dir(r.path), filepath.Join(home, userDirs[0])}, userDirs[1:]...)
	}
	for _, dir := range dirs {
		path = filepath.Join(dir, name)
		if unit, err = unitOf(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, "", problem.Of(problem.T("the service %s cannot be read: %v", name, err), problem.T("put it beside the timer"))
	}
	return unit, path, nil
}

// unitWords are the words of a command line as systemd.service(5) has them, but for what systemd itself would put in.
func unitWords(text string) (words []string, err error) {
	if text != "" && strings.ContainsRune("@:+!|", rune(text[0])) {
		return nil, fmt.Errorf("the prefix %q changes how it is started", text[:1])
	}
	var word strings.Builder
	quote, begun := byte(0), false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '%' && i+1 < len(text) && text[i+1] == '%', c == '$' && i+1 < len(text) && text[i+1] == '$':
			i++
			word.WriteByte(c)
			begun = true
		case c == '%', c == '$':
			return nil, fmt.Errorf("%s is filled in by systemd", text[i:min(i+2, len(text))])
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`"'\ ;`, text[i+1]) >= 0:
			i++
			word.WriteByte(text[i])
			begun = true
		case c == '\\':
			return nil, fmt.Errorf("the escape %s is not read", text[i:min(i+2, len(text))])
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || slices.Contains(words, ";") {
		return nil, errors.New("it is not one command")
	}
	return words, nil
}
