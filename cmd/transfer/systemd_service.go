package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/unit"
)

// serviceRefused are settings of a service that its command needs, with what to do about them.
var serviceRefused = sync.OnceValue(func() map[string]string {
	return map[string]string{
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
})

// conditionTests are the conditions of a unit about a path, as tests of the shell.
var conditionTests = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"ConditionDirectoryNotEmpty": `test -n "$(ls -A %s 2>/dev/null)"`,
		"ConditionPathExists":        "test -e %s", "ConditionPathIsDirectory": "test -d %s",
		"ConditionPathIsSymbolicLink": "test -L %s", "ConditionPathIsMountPoint": "mountpoint -q %s",
		"ConditionPathIsReadWrite": "test -w %s", "ConditionFileNotEmpty": "test -s %s",
		"ConditionFileIsExecutable": "test -f %[1]s && test -x %[1]s",
	}
})

// machineTests are the conditions of a unit about the machine, as tests of the shell. A machine of
// which the system cannot tell is on mains power and not in a container.
var machineTests = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"ConditionACPower=true":              "! grep -qs Discharging /sys/class/power_supply/*/status",
		"ConditionACPower=false":             "grep -qs Discharging /sys/class/power_supply/*/status",
		"ConditionVirtualization=container":  "systemd-detect-virt --container --quiet",
		"ConditionVirtualization=!container": "! systemd-detect-virt --container --quiet",
		"ConditionVirtualization=vm":         "systemd-detect-virt --vm --quiet",
		"ConditionVirtualization=!vm":        "! systemd-detect-virt --vm --quiet",
	}
})

// serviceReader turns the command of a service into that of a task.
type serviceReader struct {
	timerReader
	unit.Unit
	env        map[string]string
	userPrefix []string // the words before each command
	commands   []string // the commands as lines for the shell
	words      []string // the words of the only command
	conditions []string // tests of the shell
}

// service gives the task the command of the service that the timer starts, or says which part of it
// cannot be done here.
func (r timerReader) service(w *sourceTask) (err error) {
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
		return unreadable(theService, err)
	}
	sr := serviceReader{timerReader: r, Unit: u}
	if err := sr.read(w); err != nil {
		if p, ok := errors.AsType[*problem.Problem](err); ok {
			return p.About(problem.T("%s", name))
		}
		return problem.Of(problem.T("%s: %v", name, err), problem.T("have a script do it, and the service start that"))
	}
	return nil
}

// read gives the task the command of the service.
func (r *serviceReader) read(w *sourceTask) error {
	account, err := r.manager.Fill(cmp.Or(r.Last("Service", "User"),
		map[bool]string{true: r.me.Username, false: "root"}[r.ofUser]), r.Name)
	if err != nil {
		return err
	}
	home, err := r.runAs(account)
	if err != nil {
		return err
	}
	around := r.surroundings(account, home)
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
		if err := r.readSetting(w, s, around); err != nil {
			return err
		}
	}
	if err := r.readTimeout(w, kind == "oneshot"); err != nil {
		return err
	}
	if err := r.readResources(w); err != nil {
		return err
	}
	for _, phase := range []string{"ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost"} {
		if err := r.readPhase(w, phase, kind == "oneshot"); err != nil {
			return err
		}
	}
	if len(r.conditions) > 0 {
		w.spec.If = new(strings.Join(r.conditions, " && "))
	}
	if len(r.commands) == 1 && r.words != nil {
		w.spec.Command = slices.Concat(r.userPrefix, r.words)
	} else {
		w.spec.Command = slices.Concat(r.userPrefix, []string{"/bin/sh", "-c", strings.Join(r.commands, " && ")})
	}
	return nil
}

// surroundings are the folder, the mask and the variables with which systemd starts the command.
func (r *serviceReader) surroundings(account, home string) *tasks.Surroundings {
	around := &tasks.Surroundings{Dir: "/", Umask: 0o022,
		Env: map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"HOME": home, "USER": account, "LOGNAME": account}}
	for _, name := range []string{"OURO_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
		if value := r.Getenv(name); value != "" && (name == "OURO_HOME" || r.ofUser) {
			around.Env[name] = value
		}
	}
	if r.ofUser {
		around.Dir = home
	}
	return around
}

// readSetting reads a setting that is not a command.
func (r *serviceReader) readSetting(w *sourceTask, s unit.Setting, around *tasks.Surroundings) (err error) {
	hint, refused := serviceRefused()[s.Name]
	test, isCondition := conditionTests()[s.Name]
	note := func(format string, args ...any) { w.notes = append(w.notes, r.Name+": "+fmt.Sprintf(format, args...)) }
	hint = cmp.Or(hint, "have a script do it, and the service start that")
	if s.Value, err = r.expand(s); err != nil {
		return err
	}
	switch {
	case isCondition && s.Section == "Unit" && !strings.HasPrefix(s.Value, "|"):
		path, not := strings.CutPrefix(s.Value, "!")
		text := fmt.Sprintf(test, state.ShellLine([]string{strings.TrimSpace(path)}))
		if not {
			text = "! { " + text + "; }"
		}
		r.conditions = append(r.conditions, text)
	case s.Section == "Unit" && machineTests()[s.Name+"="+strings.ToLower(s.Value)] != "":
		r.conditions = append(r.conditions, machineTests()[s.Name+"="+strings.ToLower(s.Value)])
	case strings.HasPrefix(s.Name, "Condition"), strings.HasPrefix(s.Name, "Assert"):
		return problem.Of(problem.T("%s= has no counterpart", s.Name),
			problem.T("check it in the command of an ExecCondition=, and take the line out"))
	case refused:
		return problem.Of(problem.T("%s= has no counterpart", s.Name), problem.T("%s", hint))
	case s.Section == "Unit" && (s.Name == "OnFailure" || s.Name == "OnSuccess"):
		note("%s= is left out: --notify and --after do that here", s.Name)
	case s.Name == "Restart" && !strings.EqualFold(s.Value, "no"):
		note("%s= is left out: --retries does that here", s.Name)
	case s.Section == "Unit" && slices.Contains(unitIgnored, s.Name), s.Section == "Install",
		strings.HasPrefix(s.Name, "X-"), strings.HasPrefix(s.Section, "X-"):
	case s.Section == "Service" && (slices.Contains(serviceIgnored, s.Name) || strings.HasPrefix(s.Name, "Exec")):
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

// expand replaces the % of a value, except in settings that are split into words first.
func (r *serviceReader) expand(s unit.Setting) (string, error) {
	if strings.HasPrefix(s.Name, "Exec") || s.Name == "Environment" || s.Name == "Description" {
		return s.Value, nil
	}
	value, err := r.manager.Fill(s.Value, r.Name)
	if err != nil && (s.Name == "WorkingDirectory" || conditionTests()[s.Name] != "" || s.Name == "UMask") {
		return "", fmt.Errorf("%s=%s: %w", s.Name, s.Value, err)
	}
	return value, nil
}

// readTimeout reads how long the command may take: a oneshot to start, others to run.
func (r *serviceReader) readTimeout(w *sourceTask, oneshot bool) error {
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
			w.spec.Timeout = new(inSeconds(d))
		}
	}
	return nil
}

// ioClasses are the classes of IOSchedulingClass= by their numbers, as --ionice has them.
var ioClasses = []string{"none", "realtime", "best-effort", "idle"}

// readResources reads what the command may use of the machine.
func (r *serviceReader) readResources(w *sourceTask) error {
	if text := r.Last("Service", "Nice"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return problem.Of(problem.T("Nice=%s is not a whole number", text), problem.T("write one from -20 to 19"))
		}
		w.spec.Nice = &n
	}
	class, level := r.Last("Service", "IOSchedulingClass"), r.Last("Service", "IOSchedulingPriority")
	if n, err := strconv.Atoi(class); err == nil && n >= 0 && n < len(ioClasses) {
		class = ioClasses[n]
	}
	if class == "" && level != "" {
		class = "best-effort"
	}
	if level != "" && (class == "best-effort" || class == "realtime") {
		class += ":" + level
	}
	if class != "" {
		w.spec.IONice = &class
	}
	if quota := r.Last("Service", "CPUQuota"); quota != "" {
		w.spec.CPU = &quota
	}
	memory := cmp.Or(r.Last("Service", "MemoryMax"), r.Last("Service", "MemoryLimit"))
	switch {
	case memory == "" || memory == "infinity":
	case strings.HasSuffix(memory, "%"):
		w.notes = append(w.notes, fmt.Sprintf("%s: MemoryMax=%s is left out: --memory takes a size here", r.Name, memory))
	default:
		if strings.Trim(memory, "0123456789") == "" {
			memory += "B"
		}
		w.spec.Memory = &memory
	}
	return nil
}

// readPhase reads the commands of one phase of the service, which run one after the other.
func (r *serviceReader) readPhase(w *sourceTask, phase string, oneshot bool) error {
	none := true
	for _, s := range r.Settings {
		if s.Section != "Service" || s.Name != phase {
			continue
		}
		if phase == "ExecStartPost" && !oneshot {
			return problem.Of(problem.T("ExecStartPost= of a service that is not a oneshot runs beside its command"),
				problem.T("write Type=oneshot"))
		}
		list, err := r.manager.Commands(s.Value, r.Name, r.env)
		if err != nil {
			return fmt.Errorf("%s=%s: %w", s.Name, s.Value, err)
		}
		for _, c := range list {
			none = false
			for _, name := range c.Unset {
				w.notes = append(w.notes, fmt.Sprintf("%s: %s is not set, and is replaced by nothing", r.Name, name))
			}
			line := state.ShellLine(c.Words)
			if phase == "ExecCondition" {
				r.conditions = append(r.conditions, state.ShellLine(slices.Concat(r.userPrefix, c.Words)))
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

// runAs returns the home of the user that runs a service. For another user than the one who calls
// it sets the words before each command.
func (r *serviceReader) runAs(account string) (home string, err error) {
	group, err := r.manager.Fill(r.Last("Service", "Group"), r.Name)
	if err != nil {
		return "", err
	}
	if r.Opt.Bool("as-me") {
		return r.home(), nil
	}
	other := r.me
	if account != r.me.Username && account != r.me.Uid {
		if other, err = otherUser(r.me, account); err != nil {
			return "", err
		}
		r.userPrefix = []string{"runuser", "-u", other.Username}
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
			r.userPrefix = []string{"runuser", "-u", other.Username, "-g", g.Name}
		}
	}
	if r.userPrefix != nil {
		r.userPrefix = append(r.userPrefix, "--")
		return other.HomeDir, nil
	}
	return r.home(), nil
}

// These are settings that do not change what the command of a service does, or that are read
// elsewhere.
var (
	unitIgnored = []string{"Description", "Documentation", "After", "Before", "DefaultDependencies",
		"RefuseManualStart", "RefuseManualStop", "SourcePath"}
	serviceIgnored = []string{"User", "Group", "Type", "Environment", "StandardOutput", "StandardError",
		"SyslogIdentifier", "TimeoutStartSec", "TimeoutSec", "RuntimeMaxSec", "GuessMainPID", "Nice",
		"IOSchedulingClass", "IOSchedulingPriority", "CPUQuota", "MemoryMax", "MemoryLimit"}
)
