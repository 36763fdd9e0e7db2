package daemon

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

func ServiceCommand() cli.Command {
	return cli.Command{
		Name: "service", Args: "{install | uninstall | status}",
		Short: "start the runner at login, or with the machine",
		Long: `
Without it at starts a runner when there is something to run, and after a reboot nothing runs until ouro-timer is called
again. install writes a user unit of systemd (on macOS a launchd agent) that starts ouro-timer run --standby at login,
and starts it now; uninstall takes all of that back; status says how it stands, and ends with 1 when it is not installed
or not enabled. What is done is shown first, and asked about on a terminal; elsewhere --yes says that it may be done. None
of it needs root, and installing twice changes nothing. What systemd or launchd would not take is not installed, and what
does not run after that is said.

Commands go on when the service is stopped or restarted, and are accounted for. With systemd what they write is in the
journal, too (journalctl --user -u ouro-timer), and systemctl --user reload ouro-timer has config.toml read again. A
folder given with OURO_HOME has a service of its own. To have it run before anybody logs in: loginctl enable-linger

--system is about a service of the machine instead, for systemd, OpenRC or runit, whichever manages it. It starts with the
machine, its tasks are below /var/lib/ouro-timer whatever OURO_HOME says, and the user of --run-as runs them: as that user,
OURO_HOME=/var/lib/ouro-timer ouro-timer at schedules there. Root installs and uninstalls it; --print shows it to all.`,
		Examples: []string{"ouro-timer service install", "ouro-timer service install --print",
			"ouro-timer service status --json", "ouro-timer service uninstall --yes",
			"sudo ouro-timer service install --system --run-as backup",
			"ouro-timer service install --system --init openrc --print"},
		Arguments: []option.Argument{{Name: "word", Kind: option.Word, Required: true,
			Choices: []string{"install", "uninstall", "status"}}},
		Options: option.Rows{
			option.Option{Name: "print", Kind: option.Flag,
				Help: "do nothing: print the file that install writes, or what uninstall takes back"},
			option.Option{Name: "yes", Aliases: []string{"y"}, Kind: option.Flag, Help: "do it without asking"},
			option.Option{Name: "system", Kind: option.Flag,
				Help: "the service of the machine, which starts with it; its state is below /var/lib/ouro-timer"},
			option.Option{Name: "run-as", Kind: option.Text, Value: "USER", Default: service.SystemUser,
				Help: "with --system: who runs the tasks"},
			option.Option{Name: "init", Kind: option.Word, Value: "INIT", Choices: service.Inits,
				Help: "with --system: make it for systemd, openrc or runit (default: that which manages the machine)"},
			cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.JsonFlag(), cli.FieldsFlag(),
		},
		Answers: []cli.Shape{
			{Name: "service", Of: serviceAnswer{}, Says: "how the service stands"},
			{Name: "service-print", Of: serviceTextJSON{}, Says: "install --print: what would be written"},
			{Name: "service-uninstall-print", Of: serviceOffJSON{}, Says: "uninstall --print: what would be undone"},
		},
		Run: runService,
	}
}

func runService(ctx context.Context, s *cli.Call) error {
	if len(s.Args) != 1 {
		return problem.Of(problem.T("service needs one word: install, uninstall or status"),
			problem.T("%s", problem.To("service", "install")))
	}
	what, shows := s.Args[0], s.Opt.Bool("print")
	asks := what == "status" || shows // and changes nothing
	switch {
	case shows && what == "status":
		return problem.Of(problem.T("status has nothing to print"),
			problem.T("%s says how it stands; install --print shows the file, uninstall --print what would be taken back", problem.To("service", "status")))
	case s.Opt.Bool("yes") && asks:
		return cli.Usage("--yes says that something may be done, and nothing is", "leave it out")
	case s.DryRun && asks:
		return cli.Usage("--dry-run is for what changes something, and this does not", "leave it out")
	}
	p, err := planOf(s)
	if err != nil {
		return err
	}
	if p.System && !asks && !s.DryRun {
		if err := mayChange(p, what, os.Geteuid(), knownUser); err != nil {
			return err
		}
	}
	switch what {
	case "install":
		if shows {
			s.Answer(serviceTextJSON{s.Stamp(), p.Path, p.Text})
			return nil
		}
		return installService(ctx, s, p)
	case "uninstall":
		if shows {
			_, err := os.Lstat(p.Path)
			s.Answer(serviceOffJSON{s.Stamp(), err == nil || p.Survives(), p.Path, p.Off})
			return nil
		}
		return uninstallService(ctx, s, p)
	case "status":
		return serviceStatus(s, p, p.Look(ctx, serviceTools(s)))
	}
	return cli.Usage("service has no "+cli.Quote(what), "it is install, uninstall or status")
}

// planOf is the service that the call is about.
func planOf(s *cli.Call) (service.Plan, error) {
	who, init := s.Opt.Text("run-as"), s.Opt.Text("init")
	if s.Opt.Bool("system") {
		if s.Opt.Has("run-as") && !userName.MatchString(who) {
			return service.Plan{}, cli.Usage(cli.Quote(who)+" is not the name of a user",
				"give a name as /etc/passwd has it, such as --run-as "+service.SystemUser)
		}
		return cli.SystemPlanOf(init, cli.OrElse(who, service.SystemUser))
	}
	for _, name := range []string{"run-as", "init"} {
		if s.Opt.Has(name) {
			return service.Plan{}, problem.Of(problem.T("%s is for the service of the system",
				problem.Option(name)), problem.T("add %s", problem.Option("system")))
		}
	}
	return cli.PlanOf(s)
}

// userName is what useradd(8) takes for one, so that it is a word in every file of a service.
var userName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// mayChange reports why a service of the system can be neither installed nor removed by who has
// this user ID; known tells whether there is a user of a name.
func mayChange(p service.Plan, what string, uid int, known func(name string) bool) error {
	again := problem.To("service", what).With("system", true)
	switch {
	case uid != 0:
		return problem.New(problem.Failed, problem.T("only root may %s the service of the system", what),
			problem.T("sudo %s; with %s added it shows the file", again, problem.Option("print")))
	case what == "install" && !known(p.User):
		return problem.New(problem.Failed, problem.T("there is no user %s to run the tasks", p.User),
			problem.T("useradd --system --home-dir %s --shell /usr/sbin/nologin %s makes one; --run-as names another", service.SystemState, p.User))
	}
	return nil
}

func knownUser(name string) bool {
	_, err := user.Lookup(name)
	return err == nil
}

func serviceTools(s *cli.Call) service.Tools {
	return service.Tools{Path: s.Getenv("PATH"), Env: s.Environ()}
}

// serviceTextJSON is the answer of service install --print.
type serviceTextJSON struct {
	Now     time.Time `json:"now"`
	Path    string    `json:"path"`
	Service string    `json:"text"`
}

// Text is the file itself.
func (a serviceTextJSON) Text(o *cli.Out) {
	_, _ = o.Stdout.WriteString(a.Service)
}

// serviceOffJSON is the answer of service uninstall --print.
type serviceOffJSON struct {
	Now       time.Time  `json:"now"`
	Installed bool       `json:"installed"`
	Path      string     `json:"path"`
	Commands  [][]string `json:"commands,omitempty"`
}

// Text is the file, and the commands that it is taken away with.
func (a serviceOffJSON) Text(o *cli.Out) {
	if !a.Installed {
		o.Line("not installed")
		return
	}
	o.Line("%s", cli.Visible(a.Path))
	for _, argv := range a.Commands {
		o.Line("%s", cli.Visible(cli.ShellLine(argv)))
	}
}

// serviceAnswer is what service says with --json.
type serviceAnswer struct {
	Now     time.Time `json:"now"`
	Manager string    `json:"manager"`
	service.Status
	Changed  bool       `json:"changed"`
	Path     string     `json:"path"`
	Commands [][]string `json:"commands,omitempty" jsonschema:"those that were called"`
	DryRun   bool       `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	words []string
}

// Text says how it stands.
func (a serviceAnswer) Text(o *cli.Out) {
	for _, line := range a.words {
		o.Tell("%s", cli.Visible(line))
	}
}

// tellService answers: how it stands, whether that is a change, what was called for it, and all of
// it in words.
func tellService(s *cli.Call, p service.Plan, is service.Status, changed bool, called [][]string,
	words ...string) error {
	s.Answer(serviceAnswer{s.Stamp(), p.Manager, is, changed, p.Path, cli.OrEmpty(called), s.DryRun, words})
	return nil
}

// changeService shows a change, asks whether it may be made, and makes it. done is false when there
// was nothing to do, or it is a dry run, and the answer was given.
func changeService(ctx context.Context, s *cli.Call, p service.Plan, is service.Status, c service.Change,
	nothing string) (done bool, called [][]string, err error) {
	what := "write " + c.Write
	if c.Remove != "" {
		what = "remove " + c.Remove
	}
	switch {
	case c.Write == c.Remove:
		return false, nil, tellService(s, p, is, false, nil, nothing)
	case s.DryRun:
		return false, nil, tellService(s, p, is, true, c.Calls,
			"would "+what+" and call "+cli.OrElse(commandsIn(c.Calls, "", "; "), "nothing"))
	}
	shown := "This will " + what
	if c.Write != "" {
		shown += ":\n\n  " + strings.ReplaceAll(strings.TrimSuffix(p.Text, "\n"), "\n", "\n  ") + "\n"
	}
	if c.Calls != nil {
		shown += "\nand call:\n\n" + commandsIn(c.Calls, "  ", "\n")
	}
	if err := consent(s, shown); err != nil {
		return false, nil, err
	}
	called, err = c.Do(ctx, serviceTools(s))
	return err == nil, called, err
}

func installService(ctx context.Context, s *cli.Call, p service.Plan) error {
	t := serviceTools(s)
	is := p.Look(ctx, t)
	if is.Active == nil {
		return silentManager(p, is.Silent)
	}
	change := p.Install(is)
	if change.Write != "" {
		if err := checkService(ctx, s, p); err != nil {
			return err
		}
	}
	done, called, err := changeService(ctx, s, p, is, change, "installed already: "+p.Path)
	var call *service.CallError
	switch {
	case errors.As(err, &call):
		return problem.New(problem.Failed, problem.T("the service was not installed: %v", err),
			problem.T("what was begun was taken back; %s shows the file", shown))
	case errors.Is(err, service.ErrUnwritten):
		return cli.Failed(err.Error(), "see who may write to "+filepath.Dir(p.Path))
	case !done:
		return err
	}
	back, starts := problem.To("service", "uninstall"), "at login"
	if p.System {
		back, starts = back.With("system", true), "with the machine"
	} else {
		letGo(ctx, s)
	}
	is = p.Look(ctx, t)
	if !is.Enabled || !is.Runs() {
		text := "does not run"
		if !is.Enabled {
			text = "does not start " + starts
		}
		return problem.New(problem.Failed, problem.T("the service was installed, and %s", text),
			problem.T("to see why: %s; to take it back: %s", cli.ShellLine(p.Tells), back))
	}
	err = tellService(s, p, is, true, called, "installed: the runner starts "+starts+", and was started now")
	if err == nil && is.Linger != nil && !*is.Linger {
		s.Talk("note: it starts when you log in, and ends with your last session; to have it always: loginctl enable-linger")
	}
	return err
}

// shown is the call that shows what would be installed.
var shown = problem.To("service", "install").With("print", true)

// checkService warns of what may be wrong with the service, and refuses what the manager would not
// take.
func checkService(ctx context.Context, s *cli.Call, p service.Plan) error {
	if strings.HasPrefix(p.Program, os.TempDir()+string(filepath.Separator)) {
		s.Warn("warning: this program is in a temporary folder (%s); put it where it stays first",
			cli.Visible(p.Program))
	}
	says, refused := p.Check(ctx, serviceTools(s))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != "":
		return problem.New(problem.Failed, problem.T("%s does not take the service: %s", p.Manager, refused),
			problem.T("nothing was changed; %s shows the file", shown))
	case says != "":
		s.Warn("warning: %s says of the service: %s", p.Manager, cli.Visible(says))
	}
	return nil
}

// letGo asks a runner in the background for the lock: the service stands by.
func letGo(ctx context.Context, s *cli.Call) {
	st, err := s.Open()
	if err != nil {
		return // the service has it when that runner ends
	}
	if leader, led, err := st.Led(ctx); err == nil && led && leader.Yields {
		_ = runner.AskToYield(leader.Ident) // as above
	}
}

func uninstallService(ctx context.Context, s *cli.Call, p service.Plan) error {
	t := serviceTools(s)
	is := p.Look(ctx, t)
	if is.Active == nil && (is.Installed || is.Enabled) && !s.DryRun {
		s.Warn("warning: %s cannot be asked, so a runner of the service that goes on is left alone", p.Manager)
	}
	done, called, err := changeService(ctx, s, p, is, p.Uninstall(is), "not installed")
	if !done {
		return err
	}
	if is = p.Look(ctx, t); is.Installed {
		return cli.Failed("the service could not be removed", "see who may write to "+filepath.Dir(p.Path))
	}
	if p.System { // what is pending there stays for the next
		return tellService(s, p, is, true, called, "removed; what was scheduled stays in "+service.SystemState)
	}
	// What is pending is done by a runner in the background again, as before the service.
	st, err := s.Open()
	if err != nil {
		return err
	}
	if _, pending, err := state.Next(ctx, st, time.Time{}); err == nil && pending {
		if h := handover.HandOver(ctx, s, st); h.Runner == handover.RunnerStarted {
			s.Talk("note: a runner was started in the background for what is pending (pid %d)", h.Pid)
		}
	}
	return tellService(s, p, is, true, called, "removed")
}

func serviceStatus(s *cli.Call, p service.Plan, is service.Status) error {
	lines, hint := serviceWords(p, is, s.Program())
	if err := tellService(s, p, is, false, nil, lines...); err != nil {
		return err
	}
	if hint != "" {
		s.Hint("%s", hint)
	}
	if !is.Enabled {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// serviceWords says how the service stands, and what to do.
func serviceWords(p service.Plan, is service.Status, program string) (lines []string, hint string) {
	install, starts := program+" service install", "at login"
	if p.System {
		install, starts = "sudo "+install+" --system", "with the machine"
	}
	switch {
	case !is.Installed:
		return []string{"not installed"}, install
	case !is.Current:
		lines, hint = []string{"installed, by another version, for another place of the program or as another user: " + p.Path}, install+" brings it up to date"
	default:
		lines = []string{"installed: " + p.Path}
	}
	switch {
	case is.Active == nil:
		lines = append(lines, "whether it runs cannot be told: "+p.Manager+" is not to be reached from here")
	case *is.Active:
		lines = append(lines, "it runs")
	default:
		lines = append(lines, "it does not run")
	}
	switch {
	case !is.Enabled:
		lines = append(lines, "it does not start "+starts)
	case is.Linger != nil && *is.Linger:
		lines = append(lines, "it starts with the machine")
	default:
		lines = append(lines, "it starts "+starts)
	}
	return lines, hint
}

// consent shows what is to be done, and asks on a terminal. Elsewhere --yes has to say it.
func consent(s *cli.Call, shown string) error {
	if s.Opt.Bool("yes") {
		s.Talk("%s", shown)
		return nil
	}
	if !cli.IsTerminal(s.In) || s.InJSON {
		return &problem.Problem{Code: problem.Usage,
			Message: problem.T("nothing was done: there is no terminal to ask on"),
			Hint: problem.T("to have it done: %s; %s shows the file",
				problem.To("service", s.Args[0]).With("yes", true), problem.Option("print"))}
	}
	s.Remark("%s\nGo on? [y/N] ", shown)
	answer, _ := bufio.NewReader(s.In).ReadString('\n') // without an answer it is no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &problem.Problem{Code: problem.Cancelled, Message: problem.T("nothing was done")}
	}
	return nil
}

// silentManager says why the manager of services does not answer, and what to do.
func silentManager(p service.Plan, why error) error {
	f := &problem.Problem{Code: problem.NoManager,
		Message: problem.T(p.Manager + " cannot be used from here: " + why.Error())}
	cron := "crontab -e, and the line @reboot " + cli.ShellLine([]string{p.Program, "run", "--background"})
	var missing *proc.StartError
	switch {
	case p.System:
		f.Hint = problem.T("name what manages this machine with --init (systemd, openrc, runit), or have cron of %s start the runner: %s",
			p.User, "@reboot "+cli.ShellLine([]string{"env", "OURO_HOME=" + service.SystemState, p.Program, "run",
				"--background"}))
	case errors.As(why, &missing):
		f.Hint = problem.T("without it, have cron start the runner: %s", cron)
	case p.Manager == "systemd":
		f.Hint = problem.T("call it from a login session of yours, not through su or sudo; or set XDG_RUNTIME_DIR=/run/user/%d. Without systemd: %s", os.Getuid(), cron)
	default:
		f.Hint = problem.T("call it from a session on the machine's screen")
	}
	return f
}

// commandsIn are calls as they are typed, each behind an indent.
func commandsIn(calls [][]string, indent, between string) string {
	lines := make([]string, len(calls))
	for i, argv := range calls {
		lines[i] = indent + cli.ShellLine(argv)
	}
	return strings.Join(lines, between)
}
