package daemon

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// ServiceCommand is the command service.
func ServiceCommand() cli.Command {
	return cli.Command{
		Name: "service", Args: "{install | uninstall | status}",
		Short: "start the runner at login, or with the machine",
		Long: `
Without a service at starts a runner when there is something to run, and after a reboot nothing runs until ouro-timer is
called again. install writes a user unit of systemd (on macOS a launchd agent) that starts ouro-timer run --standby at
login, and starts it now; uninstall undoes all of that; status says whether it is installed and runs, and exits with 1
when it is not installed or not enabled. On a terminal install and uninstall first show what they will do and ask;
elsewhere they need --yes. None of it needs root, and installing twice changes nothing. A service that systemd or
launchd refuses is not installed.

Commands go on when the service is stopped or restarted, and are accounted for. With systemd what they write is in the
journal, too (journalctl --user -u ouro-timer), and systemctl --user reload ouro-timer reads config.toml again. A folder
given with OURO_HOME has a service of its own. To have it run before anybody logs in: loginctl enable-linger

--system is for a service of the machine, with systemd, OpenRC or runit. It starts with the machine, keeps its tasks
below /var/lib/ouro-timer whatever OURO_HOME says, and runs them as the user of --run-as. That user schedules there with
OURO_HOME=/var/lib/ouro-timer ouro-timer at. Only root installs and uninstalls it; everybody may --print it.`,
		Examples: []string{"ouro-timer service install", "ouro-timer service install --print",
			"ouro-timer service status --json", "ouro-timer service uninstall --yes",
			"sudo ouro-timer service install --system --run-as backup",
			"ouro-timer service install --system --init openrc --print"},
		Arguments: []option.Argument{{Name: "word", Kind: option.Word, Required: true,
			Choices: []string{"install", "uninstall", "status"}}},
		Options: option.Rows{
			option.Option{Name: "print", Kind: option.Flag,
				Help: "do nothing: print the file that install writes, or what uninstall removes"},
			option.Option{Name: "yes", Aliases: []string{"y"}, Kind: option.Flag, Help: "do it without asking"},
			option.Option{Name: "system", Kind: option.Flag,
				Help: "the service of the machine, which starts with it; its state is below /var/lib/ouro-timer"},
			option.Option{Name: "run-as", Kind: option.Text, Value: "USER", Default: service.SystemUser,
				Help: "with --system: who runs the tasks; where the service is installed, who runs them there"},
			option.Option{Name: "init", Kind: option.Word, Value: "INIT", Choices: service.Inits,
				Help: "with --system: make it for systemd, openrc or runit (default: the one of this machine)"},
			cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{
			{Name: "service", Of: serviceAnswer{}, Means: "whether the service is installed and runs"},
			{Name: "service-print", Of: serviceTextJSON{}, Means: "install --print: what would be written"},
			{Name: "service-uninstall-print", Of: serviceUninstallJSON{},
				Means: "uninstall --print: what would be removed"},
		},
		Run: runService,
	}
}

func runService(ctx context.Context, s *cli.Call) error {
	if len(s.Args) != 1 {
		return problem.Of(problem.T("service needs one word: install, uninstall or status"),
			problem.T("%s", problem.To("service", "install")))
	}
	action, prints := s.Args[0], s.Opt.Bool("print")
	changesNothing := action == "status" || prints // the call changes nothing
	switch {
	case prints && action == "status":
		return problem.Of(problem.T("status has nothing to print"),
			problem.T("%s says whether it is installed; %s shows the file", serviceCall(s, "status"), printCall(s)))
	case s.Opt.Bool("yes") && changesNothing:
		return cli.Usage("--yes is for calls that change something, and this one does not", "leave it out")
	case s.DryRun && changesNothing:
		return cli.Usage("--dry-run is for calls that change something, and this one does not", "leave it out")
	}
	p, err := planOf(s)
	if err != nil {
		return err
	}
	if p.System && !changesNothing && !s.DryRun {
		if err := mayChange(p, action, serviceCall(s, action), os.Geteuid(), knownUser); err != nil {
			return err
		}
	}
	if user, known := service.AccountOf(p.User); known && p.System && action == "install" && !prints {
		if err := barredProblem(p.Barred(user, service.SystemState), p); err != nil {
			return err
		}
	}
	switch action {
	case "install":
		if prints {
			s.Answer(serviceTextJSON{s.Stamp(), p.Path, p.Text})
			return nil
		}
		return installService(ctx, s, p)
	case "uninstall":
		if prints {
			_, err := os.Lstat(p.Path)
			s.Answer(serviceUninstallJSON{s.Stamp(), err == nil || p.Survives(), p.Path, p.Off})
			return nil
		}
		return uninstallService(ctx, s, p)
	case "status":
		return serviceStatus(s, p, p.Look(ctx, serviceTools(s)))
	}
	return cli.Usage(cli.Quote(action)+" is not a word of service", "it is install, uninstall or status")
}

// serviceCall is a call of service about the service that this call is about.
func serviceCall(s *cli.Call, action string) problem.Call {
	return cli.With(problem.To("service", action), s.Opt, "system", "run-as", "init")
}

// planOf is the service that the call is about.
func planOf(s *cli.Call) (service.Plan, error) {
	who, init := s.Opt.Text("run-as"), s.Opt.Text("init")
	if s.Opt.Bool("system") {
		if s.Opt.Has("run-as") && !isUserName(who) {
			return service.Plan{}, cli.Usage(cli.Quote(who)+" is not the name of a user",
				"give a name as /etc/passwd has it, such as --run-as "+service.SystemUser)
		}
		p, err := cli.SystemServicePlan(init, cmp.Or(who, service.SystemUser))
		if installed := p.InstalledUser(); err == nil && !s.Opt.Has("run-as") && isUserName(installed) {
			return cli.SystemServicePlan(init, installed)
		}
		return p, err
	}
	for _, name := range []string{"run-as", "init"} {
		if s.Opt.Has(name) {
			return service.Plan{}, problem.Of(problem.T("%s is for the service of the system",
				problem.Option(name)), problem.T("add %s", problem.Option("system")))
		}
	}
	return cli.ServicePlan(s)
}

// isUserName reports whether useradd(8) accepts a name. Such a name is one word in every file of a
// service.
func isUserName(name string) bool {
	const letters = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return name != "" && strings.ContainsRune(letters, rune(name[0])) && strings.Trim(name, letters+"0123456789.-") == ""
}

// mayChange returns why the user with this ID cannot install or remove a service of the system.
// again is the call, and known reports whether a user exists.
func mayChange(p service.Plan, action string, again problem.Call, uid int, known func(name string) bool) error {
	switch {
	case uid != 0:
		return problem.New(problem.Failed, problem.T("only root may %s the service of the system", action),
			problem.T("sudo %s; with %s added it shows the file", again, problem.Option("print")))
	case action == "install" && !known(p.User):
		return problem.New(problem.Failed, problem.T("there is no user %s to run the tasks", p.User),
			problem.T("useradd --system --home-dir %s --shell /usr/sbin/nologin %s makes one; --run-as names another",
				service.SystemState, p.User))
	}
	return nil
}

// barredProblem says what would keep the service of the system from working for a user; nil when
// that is nothing.
func barredProblem(bar service.Bar, p service.Plan) error {
	switch bar.Why {
	case service.AboveState:
		return problem.New(problem.Failed, problem.T("%s may not enter %s, and the tasks are below it", p.User, bar.Path),
			problem.T("%s; or --run-as names another user", cli.ShellLine(bar.Mend)))
	case service.AboveProgram:
		return problem.New(problem.Failed,
			problem.T("%s may not enter %s, and this program is below it (%s)", p.User, bar.Path, p.Program),
			problem.T("put the program where everybody may run it, such as /usr/local/bin, and call it there"))
	case service.InState:
		return problem.New(problem.Failed, problem.T("%s belongs to another user than %s", bar.Path, p.User),
			problem.T("%s; or --run-as names another user", cli.ShellLine(bar.Mend)))
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

// changeService shows a change, asks whether it may be made, and makes it. When there is nothing to
// do, and in a dry run, it answers and done is false.
func changeService(ctx context.Context, s *cli.Call, p service.Plan, status service.Status, c service.Change,
	nothing string) (done bool, called [][]string, err error) {
	what := "write " + c.Write
	if c.Remove != "" {
		what = "remove " + c.Remove
	}
	switch {
	case c.Write == c.Remove:
		return false, nil, answerService(s, p, status, false, nil, nothing)
	case s.DryRun:
		return false, nil, answerService(s, p, status, true, c.Calls,
			"would "+what+" and call "+cmp.Or(commandsIn(c.Calls, "", "; "), "nothing"))
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
	status := p.Look(ctx, t)
	if status.Active == nil {
		return managerUnavailable(p, status.Silent)
	}
	change := p.Install(status)
	if change.Write != "" {
		if err := checkService(ctx, s, p); err != nil {
			return err
		}
	}
	done, called, err := changeService(ctx, s, p, status, change, "installed already: "+p.Path)
	var call *service.CallError
	switch {
	case errors.As(err, &call):
		return problem.New(problem.Failed, problem.T("the service was not installed: %v", err),
			problem.T("what was begun was taken back; %s shows the file", printCall(s)))
	case errors.Is(err, service.ErrUnwritten):
		return cli.Failed(err.Error(), "see who may write to "+filepath.Dir(p.Path))
	case !done:
		return err
	}
	back, starts := serviceCall(s, "uninstall"), "at login"
	if p.System {
		starts = "with the machine"
	} else {
		yieldToService(ctx, s)
	}
	status = p.Look(ctx, t)
	if !status.Enabled || !status.Runs() {
		text := "does not run"
		if !status.Enabled {
			text = "does not start " + starts
		}
		return problem.New(problem.Failed, problem.T("the service was installed, and %s", text),
			problem.T("to see why: %s; to take it back: %s", cli.ShellLine(p.Tells), back))
	}
	err = answerService(s, p, status, true, called, "installed: the runner starts "+starts+", and was started now")
	if err == nil && status.Linger != nil && !*status.Linger {
		s.Note("note: it starts when you log in, and ends with your last session; " +
			"to have it always: loginctl enable-linger")
	}
	return err
}

// printCall is the call that prints what would be installed.
func printCall(s *cli.Call) problem.Call { return serviceCall(s, "install").With("print", true) }

// checkService warns about what may be wrong with the service, and refuses a service that the
// manager refuses.
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
		return problem.New(problem.Failed, problem.T("%s refuses the service: %s", p.Manager, refused),
			problem.T("nothing was changed; %s shows the file", printCall(s)))
	case says != "":
		s.Warn("warning: %s says of the service: %s", p.Manager, cli.Visible(says))
	}
	return nil
}

// yieldToService asks a runner in the background to give the lock to the service, which stands by.
func yieldToService(ctx context.Context, s *cli.Call) {
	st, err := s.Open()
	if err != nil {
		return // the service takes the lock when that runner ends
	}
	if leader, led, err := st.Led(ctx); err == nil && led && leader.Yields {
		_ = runner.AskToYield(leader.Ident) // on an error the service waits for its end, too
	}
}

func uninstallService(ctx context.Context, s *cli.Call, p service.Plan) error {
	t := serviceTools(s)
	status := p.Look(ctx, t)
	if status.Active == nil && (status.Installed || status.Enabled) && !s.DryRun {
		s.Warn("warning: %s cannot be asked, so a runner of the service that goes on is left alone", p.Manager)
	}
	done, called, err := changeService(ctx, s, p, status, p.Uninstall(status), "not installed")
	if !done {
		return err
	}
	if status = p.Look(ctx, t); status.Installed {
		return cli.Failed("the service could not be removed", "see who may write to "+filepath.Dir(p.Path))
	}
	if p.System { // the tasks there wait for the next installation
		return answerService(s, p, status, true, called, "removed; what was scheduled stays in "+service.SystemState)
	}
	// A runner in the background runs what is pending, as before the service.
	st, err := s.Open()
	if err != nil {
		return err
	}
	if _, pending, err := state.Next(ctx, st, time.Time{}); err == nil && pending {
		if h := handover.HandOver(ctx, s, st); h.Runner == handover.RunnerStarted {
			s.Note("note: a runner was started in the background for what is pending (pid %d)", h.Pid)
		}
	}
	return answerService(s, p, status, true, called, "removed")
}

// consent shows what will be done and asks on a terminal whether to go on. Elsewhere the call needs
// --yes.
func consent(s *cli.Call, shown string) error {
	if s.Opt.Bool("yes") {
		s.Note("%s", shown)
		return nil
	}
	if !cli.IsTerminal(s.In) || s.InJSON {
		return &problem.Problem{Code: problem.Usage,
			Message: problem.T("nothing was done: there is no terminal to ask on"),
			Hint: problem.T("to have it done: %s; %s shows the file",
				serviceCall(s, s.Args[0]).With("yes", true), problem.Option("print"))}
	}
	s.WriteError("%s\nGo on? [y/N] ", shown)
	answer, _ := bufio.NewReader(s.In).ReadString('\n') // no answer means no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &problem.Problem{Code: problem.Cancelled, Message: problem.T("nothing was done")}
	}
	return nil
}
