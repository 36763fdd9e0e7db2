package daemon

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// serviceTextJSON is the answer of service install --print.
type serviceTextJSON struct {
	Now     time.Time `json:"now"`
	Path    string    `json:"path"`
	Service string    `json:"text"`
}

// Text writes the file itself.
func (a serviceTextJSON) Text(o *cli.Out) {
	_, _ = o.Stdout.WriteString(a.Service)
}

// serviceUninstallJSON is the answer of service uninstall --print.
type serviceUninstallJSON struct {
	Now       time.Time  `json:"now"`
	Installed bool       `json:"installed"`
	Path      string     `json:"path"`
	Commands  [][]string `json:"commands,omitempty"`
}

// Text writes the path of the file, and the commands that remove it.
func (a serviceUninstallJSON) Text(o *cli.Out) {
	if !a.Installed {
		o.Line("not installed")
		return
	}
	o.Line("%s", cli.Visible(a.Path))
	for _, argv := range a.Commands {
		o.Line("%s", cli.Visible(cli.ShellLine(argv)))
	}
}

// serviceAnswer is the answer of service.
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

// Text says whether the service is installed and runs.
func (a serviceAnswer) Text(o *cli.Out) {
	for _, line := range a.words {
		o.LineUnlessQuiet("%s", cli.Visible(line))
	}
}

// answerService answers with the status of the service, whether it was changed, the commands that
// were called, and a text.
func answerService(s *cli.Call, p service.Plan, status service.Status, changed bool, called [][]string,
	words ...string) error {
	s.Answer(serviceAnswer{s.Stamp(), p.Manager, status, changed, p.Path, cli.OrEmpty(called), s.DryRun, words})
	return nil
}

func serviceStatus(s *cli.Call, p service.Plan, status service.Status) error {
	lines, hint := serviceWords(p, status, cli.ShellLine(serviceCall(s, "install").Words(cli.OwnName(s))))
	if err := answerService(s, p, status, false, nil, lines...); err != nil {
		return err
	}
	if hint != "" {
		s.Hint("%s", hint)
	}
	if !status.Enabled {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// serviceWords says whether the service is installed and runs, and what to do. install is the
// command that installs it.
func serviceWords(p service.Plan, status service.Status, install string) (lines []string, hint string) {
	starts := "at login"
	if p.System {
		install, starts = "sudo "+install, "with the machine"
	}
	switch {
	case !status.Installed:
		return []string{"not installed"}, install
	case !status.Current:
		lines = []string{"installed by another version, for another place of the program or for another user: " + p.Path}
		hint = install + " brings it up to date"
	default:
		lines = []string{"installed: " + p.Path}
	}
	switch {
	case status.Active == nil:
		lines = append(lines, "whether it runs is not known: "+p.Manager+" cannot be reached from here")
	case *status.Active:
		lines = append(lines, "it runs")
	default:
		lines = append(lines, "it does not run")
	}
	switch {
	case !status.Enabled:
		lines = append(lines, "it does not start "+starts)
	case status.Linger != nil && *status.Linger:
		lines = append(lines, "it starts with the machine")
	default:
		lines = append(lines, "it starts "+starts)
	}
	return lines, hint
}

// managerUnavailable is the problem of a service manager that does not answer.
func managerUnavailable(p service.Plan, why error) error {
	f := &problem.Problem{Code: problem.NoManager,
		Message: problem.T(p.Manager + " cannot be used from here: " + why.Error())}
	cron := "crontab -e, and the line @reboot " + cli.ShellLine([]string{p.Program, "run", "--background"})
	var missing *proc.StartError
	switch {
	case p.System:
		f.Hint = problem.T("name the init of this machine with --init (systemd, openrc, runit), or let cron of %s start "+
			"the runner: %s", p.User, "@reboot "+cli.ShellLine([]string{"env", "OURO_HOME=" + service.SystemState,
			p.Program, "run", "--background"}))
	case errors.As(why, &missing):
		f.Hint = problem.T("without it, let cron start the runner: %s", cron)
	case p.Manager == "systemd":
		f.Hint = problem.T("call it from a login session of yours, not through su or sudo; or set XDG_RUNTIME_DIR="+
			"/run/user/%d. Without systemd: %s", os.Getuid(), cron)
	default:
		f.Hint = problem.T("call it from a session on the machine's screen")
	}
	return f
}

// commandsIn returns commands as they are typed, each after an indent.
func commandsIn(calls [][]string, indent, between string) string {
	lines := make([]string, len(calls))
	for i, argv := range calls {
		lines[i] = indent + cli.ShellLine(argv)
	}
	return strings.Join(lines, between)
}
