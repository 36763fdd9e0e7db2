package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

func serviceCommand() command {
	return command{
		name: "service", args: "{install | uninstall | status}", short: "start the runner at login",
		long: `
Without it at starts a runner when there is something to run, and after a reboot nothing runs until ouro-timer is called
again. install writes a user unit of systemd (on macOS a launchd agent) that starts ouro-timer run --standby at login,
and starts it now; uninstall takes all of that back; status says how it stands, and ends with 1 when it is not installed
or not enabled. What is done is shown first, and asked about on a terminal; elsewhere --yes says that it may be done. None
of it needs root, and installing twice changes nothing. What systemd or launchd would not take is not installed, and what
does not run after that is said.

Commands go on when the service is stopped or restarted, and are accounted for. With systemd what they write is in the
journal, too (journalctl --user -u ouro-timer), and systemctl --user reload ouro-timer has config.toml read again. A
folder given with OURO_HOME has a service of its own. To have it run before anybody logs in: loginctl enable-linger`,
		examples:  []string{"ouro-timer service install", "ouro-timer service install --print", "ouro-timer service status --json", "ouro-timer service uninstall --yes"},
		arguments: []option.Argument{{Name: "word", Kind: option.Word, Required: true, Choices: []string{"install", "uninstall", "status"}}},
		options: option.Rows{
			option.Option{Name: "print", Kind: option.Flag, Help: "do nothing: print the file that install writes, or what uninstall takes back"},
			option.Option{Name: "yes", Aliases: []string{"y"}, Kind: option.Flag, Help: "do it without asking"},
			dryFlag(), quietFlag("print nothing but errors"), jsonFlag(),
		},
		answers: []answer{
			{name: "service", of: serviceAnswer{}, says: "how the service stands"},
			{name: "service-print", of: serviceTextJSON{}, says: "install --print: what would be written"},
			{name: "service-uninstall-print", of: serviceOffJSON{}, says: "uninstall --print: what would be undone"},
		},
		run: runService,
	}
}

func runService(ctx context.Context, s *session) error {
	if len(s.args) != 1 {
		return usage("service needs one word: install, uninstall or status", "ouro-timer service install")
	}
	what := s.args[0]
	if s.opt.Bool("print") && what == "status" {
		return usage("status has nothing to print", "ouro-timer service status says how it stands; install --print shows the file, uninstall --print what would be taken back")
	}
	if s.opt.Bool("yes") && (what == "status" || s.opt.Bool("print")) {
		return usage("--yes says that something may be done, and nothing is", "leave it out")
	}
	if s.dry && (what == "status" || s.opt.Bool("print")) {
		return usage("--dry-run is for what changes something, and this does not", "leave it out")
	}
	p, err := s.servicePlan()
	if err != nil {
		return err
	}
	switch what {
	case "install":
		if s.opt.Bool("print") {
			return s.printService(p)
		}
		return s.installService(ctx, p)
	case "uninstall":
		if s.opt.Bool("print") {
			return s.printUninstall(p)
		}
		return s.uninstallService(ctx, p)
	case "status":
		return s.serviceStatus(ctx, p)
	}
	return usage("service has no "+quote(what), "it is install, uninstall or status")
}

// servicePlan is the service of a state folder for the system's manager of services.
func (s *session) servicePlan() (servicePlan, error) {
	home, err := s.home()
	if err != nil {
		return servicePlan{}, err
	}
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return servicePlan{}, &problem.Problem{Code: problem.Failed, Message: problem.T("where this program is cannot be told: " + err.Error())}
	}
	user := s.Getenv("HOME")
	config := s.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(user, ".config")
	}
	w := serviceWorld{program: program, state: home, user: user, config: config, uid: os.Getuid()}
	switch {
	case user == "":
		return servicePlan{}, &problem.Problem{Code: problem.Unusable, Message: problem.T("HOME is not set, so there is no place for the service"), Hint: problem.T("set HOME")}
	case runtime.GOOS == "darwin":
		return launchdPlan(w), nil
	case runtime.GOOS == "linux":
		return systemdPlan(w), nil
	}
	return servicePlan{}, &problem.Problem{Code: problem.Unsupported, Message: problem.T("services are made for systemd and launchd only"),
		Hint: problem.T("have the system call at its start: " + shellLine([]string{program, "run", "--background"}))}
}

// survives reports whether a runner comes back by itself after a reboot.
func (s *session) survives() bool {
	p, err := s.servicePlan()
	if err != nil {
		return false
	}
	for _, path := range p.proof {
		if _, err := os.Lstat(path); err != nil {
			return false
		}
	}
	return true
}

// serviceTextJSON is the answer of service install --print.
type serviceTextJSON struct {
	Now  time.Time `json:"now"`
	Path string    `json:"path"`
	Text string    `json:"text"`
}

func (s *session) printService(p servicePlan) error {
	if !s.json {
		_, err := io.WriteString(s.out, p.text)
		return err
	}
	s.emit(serviceTextJSON{s.stamp(), p.path, p.text})
	return nil
}

// serviceOffJSON is the answer of service uninstall --print.
type serviceOffJSON struct {
	Now       time.Time  `json:"now"`
	Installed bool       `json:"installed"`
	Path      string     `json:"path"`
	Commands  [][]string `json:"commands"`
}

// printUninstall shows what uninstall would do.
func (s *session) printUninstall(p servicePlan) error {
	_, err := os.Lstat(p.path)
	if there := err == nil || s.survives(); s.json {
		s.emit(serviceOffJSON{s.stamp(), there, p.path, p.off})
	} else if !there {
		s.line("not installed")
	} else {
		s.line("%s", visible(p.path))
		for _, argv := range p.off {
			s.line("%s", visible(shellLine(argv)))
		}
	}
	return nil
}

// accepted has the manager's own tool look at the file before anything is done with it. Where there is no such tool, or it can
// tell nothing about the file, what starts the service has the last word.
func (s *session) accepted(ctx context.Context, p servicePlan) error {
	dir, err := os.MkdirTemp("", "ouro-timer-service-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	name := filepath.Base(p.path)
	file := filepath.Join(dir, name)
	if os.WriteFile(file, []byte(p.text), 0o600) != nil {
		return nil
	}
	out, err := s.tool(ctx, append(slices.Clone(p.lint), file))
	about := "" // what it says of the file; it may say something of others, too
	for line := range strings.Lines(out) {
		if strings.Contains(line, name) {
			about = strings.TrimSpace(strings.ReplaceAll(line, dir+string(filepath.Separator), ""))
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case about == "":
	case err != nil:
		return &problem.Problem{Code: problem.Failed, Message: problem.T(p.manager + " does not take the service: " + about),
			Hint: problem.T("nothing was changed; ouro-timer service install --print shows the file")}
	case p.manager == "systemd": // plutil says that all is well
		s.warn("warning: %s says of the service: %s", p.manager, visible(about))
	}
	return nil
}

// serviceAnswer is what service says with --json.
type serviceAnswer struct {
	Now       time.Time  `json:"now"`
	Manager   string     `json:"manager"`
	Installed bool       `json:"installed"`
	Current   bool       `json:"current" jsonschema:"the file is as this program would write it"`
	Enabled   bool       `json:"enabled" jsonschema:"it starts at login"`
	Active    *bool      `json:"active" jsonschema:"it runs; null: the manager cannot be asked"`
	Linger    *bool      `json:"linger" jsonschema:"it starts before a login; null: there is no telling"`
	Changed   bool       `json:"changed"`
	Path      string     `json:"path"`
	Commands  [][]string `json:"commands" jsonschema:"those that were called"`
	DryRun    bool       `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
}

// look finds out how the service stands.
func (s *session) look(ctx context.Context, p servicePlan) serviceAnswer {
	a := serviceAnswer{Now: s.stamp(), DryRun: s.dry, Manager: p.manager, Path: p.path, Linger: s.lingers(p), Commands: [][]string{}}
	text, err := os.ReadFile(p.path)
	a.Installed, a.Current = err == nil, string(text) == p.text
	a.Enabled = a.Installed && s.survives()
	if _, err := s.tool(ctx, p.probe); err == nil {
		_, err := s.tool(ctx, p.asks)
		active := err == nil
		a.Active = &active
	}
	return a
}

func (s *session) installService(ctx context.Context, p servicePlan) error {
	a := s.look(ctx, p)
	if a.Active == nil {
		return s.unusableManager(ctx, p)
	}
	if a.Current && a.Enabled && *a.Active {
		return s.tellService(a, "installed already: "+p.path)
	}
	if strings.HasPrefix(p.program, os.TempDir()+string(filepath.Separator)) {
		s.warn("warning: this program is in a temporary folder (%s); put it where it stays first", visible(p.program))
	}
	if err := s.accepted(ctx, p); err != nil {
		return err
	}
	calls := p.on
	if a.Installed { // what runs is of the old file
		calls = append(append([][]string{}, p.off...), p.on...)
	}
	shown := "This will write " + p.path + ":\n\n" + indent(p.text) + "\nand call:\n\n" + commandLines(calls)
	if s.dry {
		a.Changed, a.Commands = true, calls
		return s.tellService(a, "would write "+p.path+" and call "+commandsInLine(calls))
	}
	if err := s.consent(shown); err != nil {
		return err
	}
	if err := writeService(p.path, p.text); err != nil {
		return &problem.Problem{Code: problem.Failed, Message: problem.T("the service could not be written: " + err.Error()), Hint: problem.T("see who may write to " + filepath.Dir(p.path))}
	}
	for i, argv := range calls {
		a.Commands = append(a.Commands, argv)
		if out, err := s.tool(ctx, argv); err != nil && i >= len(calls)-len(p.on) {
			s.remove(ctx, p)
			return &problem.Problem{Code: problem.Failed, Message: problem.T("the service was not installed: " + shellLine(argv) + ": " + why(out, err)),
				Hint: problem.T("what was begun was taken back; ouro-timer service install --print shows the file")}
		}
	}
	s.letGo(ctx)
	after := s.look(ctx, p)
	after.Changed, after.Commands = true, a.Commands
	if !after.Enabled || after.Active == nil || !*after.Active {
		text := "does not run"
		if !after.Enabled {
			text = "does not start at login"
		}
		return &problem.Problem{Code: problem.Failed, Message: problem.T("the service was installed, and " + text),
			Hint: problem.T("to see why: " + shellLine(p.tells) + "; to take it back: ouro-timer service uninstall")}
	}
	if err := s.tellService(after, "installed: the runner starts at login, and was started now"); err != nil {
		return err
	}
	if after.Linger != nil && !*after.Linger {
		s.talk("note: it starts when you log in, and ends with your last session; to have it always: loginctl enable-linger")
	}
	return nil
}

// letGo asks a runner in the background for the lock: the service stands by.
func (s *session) letGo(ctx context.Context) {
	st, err := s.open()
	if err != nil {
		return // the service has it when that runner ends
	}
	if leader, led, err := st.Led(ctx); err == nil && led && leader.Yields {
		_ = runner.AskToYield(leader.Ident) // as above
	}
}

func (s *session) uninstallService(ctx context.Context, p servicePlan) error {
	a := s.look(ctx, p)
	if !a.Installed && !a.Enabled {
		return s.tellService(a, "not installed")
	}
	calls := p.off
	if a.Active == nil {
		calls = nil
	}
	shown := "This will remove " + p.path
	if calls != nil {
		shown += "\nand call:\n\n" + commandLines(calls)
	}
	if s.dry {
		a.Changed, a.Commands = true, orEmpty(calls)
		return s.tellService(a, "would remove "+p.path+" and call "+commandsInLine(calls))
	}
	if err := s.consent(shown); err != nil {
		return err
	}
	if a.Active == nil {
		s.warn("warning: %s cannot be asked, so a runner of the service that goes on is left alone", p.manager)
	}
	called := s.remove(ctx, p)
	after := s.look(ctx, p)
	after.Changed, after.Commands = true, orEmpty(called)
	if after.Installed {
		return &problem.Problem{Code: problem.Failed, Message: problem.T("the service could not be removed"), Hint: problem.T("see who may write to " + filepath.Dir(p.path))}
	}
	// What is pending is done by a runner in the background again, as before the service.
	st, err := s.open()
	if err != nil {
		return err
	}
	if _, pending, err := state.Next(ctx, st, time.Time{}); err == nil && pending {
		if h := s.handOver(ctx, st); h.runner == runnerStarted {
			s.talk("note: a runner was started in the background for what is pending (pid %d)", h.pid)
		}
	}
	return s.tellService(after, "removed")
}

// remove takes the service back as far as it is there, and leaves nothing behind: not even folders that it alone was in.
func (s *session) remove(ctx context.Context, p servicePlan) (called [][]string) {
	if _, err := s.tool(ctx, p.probe); err == nil {
		for _, argv := range p.off {
			if _, err := s.tool(ctx, argv); err == nil || len(called) > 0 {
				called = append(called, argv)
			}
		}
	}
	for _, path := range append([]string{p.path}, p.proof...) {
		_ = os.Remove(path) // whoever calls looks what is left
	}
	if p.reload != nil {
		if _, err := s.tool(ctx, p.reload); err == nil {
			called = append(called, p.reload)
		}
	}
	for _, dir := range p.folders {
		if err := os.Remove(dir); err != nil && !os.IsNotExist(err) { // others use it
			break
		}
	}
	return called
}

func (s *session) serviceStatus(ctx context.Context, p servicePlan) error {
	a := s.look(ctx, p)
	if s.json {
		s.emit(a)
	} else {
		switch {
		case !a.Installed:
			s.line("not installed")
			s.talk("hint: ouro-timer service install")
		case !a.Current:
			s.line("installed, by another version or for another place of the program: %s", visible(p.path))
			s.talk("hint: ouro-timer service install brings it up to date")
		default:
			s.line("installed: %s", visible(p.path))
		}
		if a.Installed {
			switch {
			case a.Active == nil:
				s.line("whether it runs cannot be told: %s is not to be reached from here", p.manager)
			case *a.Active:
				s.line("it runs")
			default:
				s.line("it does not run")
			}
			if !a.Enabled {
				s.line("it does not start at login")
			} else if a.Linger != nil && *a.Linger {
				s.line("it starts with the machine")
			} else {
				s.line("it starts at login")
			}
		}
	}
	if !a.Installed || !a.Enabled {
		return exitCode(exitFailed)
	}
	return nil
}

// commandsInLine are calls as one line for people.
func commandsInLine(calls [][]string) string {
	lines := make([]string, len(calls))
	for i, argv := range calls {
		lines[i] = shellLine(argv)
	}
	return orElse(strings.Join(lines, "; "), "nothing")
}

func (s *session) tellService(a serviceAnswer, text string) error {
	if s.json {
		s.emit(a)
	} else if !s.opt.Bool("quiet") {
		s.line("%s", visible(text))
	}
	return nil
}

// consent shows what is to be done, and asks on a terminal. Elsewhere --yes has to say it.
func (s *session) consent(shown string) error {
	if s.opt.Bool("yes") {
		s.talk("%s", strings.TrimSuffix(shown, "\n"))
		return nil
	}
	f, ok := s.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || s.json {
		return &problem.Problem{Code: problem.Usage, Message: problem.T("nothing was done: there is no terminal to ask on"),
			Hint: problem.T("to have it done: " + shellLine([]string{"ouro-timer", "service", s.args[0], "--yes"}) + "; --print shows the file")}
	}
	s.aside("%s\nGo on? [y/N] ", strings.TrimSuffix(shown, "\n"))
	answer, _ := bufio.NewReader(s.In).ReadString('\n') // without an answer it is no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &problem.Problem{Code: problem.Cancelled, Message: problem.T("nothing was done")}
	}
	return nil
}

// toolWait bounds a call of the manager of services. Stopping waits for a runner that waits for its commands.
const toolWait = time.Minute

// tool calls a program of the system, and returns what it says.
func (s *session) tool(ctx context.Context, argv []string) (string, error) {
	path, err := proc.LookPath(argv[0], s.Getenv("PATH"), "")
	if err != nil {
		return "", err
	}
	ctx, cancel := s.within(ctx, toolWait)
	defer cancel()
	c := exec.CommandContext(ctx, path, argv[1:]...)
	c.Env = s.Environ()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err = c.Run()
	return strings.TrimSpace(out.String()), err
}

// why is what a tool said, or else how it ended.
func why(out string, err error) string {
	if line, _, _ := strings.Cut(out, "\n"); line != "" {
		return line
	}
	return err.Error()
}

// unusableManager says why the manager of services does not answer, and what to do.
func (s *session) unusableManager(ctx context.Context, p servicePlan) error {
	out, err := s.tool(ctx, p.probe)
	f := &problem.Problem{Code: problem.NoManager, Message: problem.T(p.manager + " cannot be used from here")}
	if err != nil {
		f.Message = problem.T("%s: %s", f.Message, why(out, err))
	}
	var missing *proc.StartError
	switch {
	case errors.As(err, &missing):
		f.Hint = problem.T("without it, have cron start the runner: crontab -e, and the line @reboot %s", shellLine([]string{p.program, "run", "--background"}))
	case p.manager == "systemd":
		f.Hint = problem.T("call it from a login session of yours, not through su or sudo; or set XDG_RUNTIME_DIR=/run/user/%d. "+
			"Without systemd: crontab -e, and the line @reboot %s", os.Getuid(), shellLine([]string{p.program, "run", "--background"}))
	default:
		f.Hint = problem.T("call it from a session on the machine's screen")
	}
	return f
}

// lingers reports whether the user's services run without a session; nil where that is not known.
func (s *session) lingers(p servicePlan) *bool {
	if p.manager != "systemd" {
		return nil
	}
	name := s.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if name == "" {
		return nil
	}
	_, err := os.Stat(filepath.Join("/var/lib/systemd/linger", name))
	yes := err == nil
	return &yes
}

// writeService puts the file in place, whole.
func writeService(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return nil
}

// indent sets text off from what is around it.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

func commandLines(list [][]string) string {
	var b strings.Builder
	for _, argv := range list {
		b.WriteString("  " + shellLine(argv) + "\n")
	}
	return b.String()
}
