package transfer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/crontab"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// These are the forms of an export, beside crontab.
const (
	formICS   = "ics"
	formJSONL = "jsonl"
)

// ExportCommand is the command export.
func ExportCommand() cli.Command {
	return cli.Command{
		Name: "export", Args: "crontab | ics | jsonl", Short: "write the tasks out for another program",
		Long: `
Writes the tasks that are pending, paused or running to standard output. Nothing is changed.

  jsonl    a line for each task with all of it: ouro-timer import jsonl makes the same tasks elsewhere. Variables that a
           task keeps are a part of it, the ledger and the inbox are not.
  crontab  lines for cron(8), and a comment for each task that cannot be such a line
  ics      RFC 5545, for calendars: the instants of the coming 30 days, 500 of a task at the most`,
		Examples: []string{"ouro-timer export jsonl > tasks.jsonl", "ouro-timer export ics > tasks.ics"},
		Arguments: []option.Argument{{Name: "form", Kind: option.Word, Required: true,
			Choices: []string{kindCrontab, formICS, formJSONL}}},
		Options: option.Rows{cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag},
		Answers: []cli.Shape{{Name: "export", Of: exportJSON{}, Means: "the tasks, in the form that was asked for"}},
		Run:     runExport,
	}
}

// exportJSON is the answer of export.
type exportJSON struct {
	Now   time.Time `json:"now"`
	Form  string    `json:"form" enum:"crontab ics jsonl"`
	Total int       `json:"total" jsonschema:"how many tasks there are"`
	Text  string    `json:"text" jsonschema:"what is written to standard output without --json"`
}

func runExport(ctx context.Context, s *cli.Call) error {
	forms := map[string]func([]state.Entry, time.Time) (string,
		error){kindCrontab: asCrontab, formICS: asICS, formJSONL: asJSONL}
	hint := problem.T("%s; or crontab, or ics", problem.To("export", formJSONL))
	switch {
	case len(s.Args) == 0:
		return problem.Of(problem.T("export needs a form"), hint)
	case len(s.Args) > 1 || forms[s.Args[0]] == nil:
		return problem.Of(problem.T("export takes one form, and not %s", cli.Quote(s.Args[len(s.Args)-1])), hint)
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	var list []state.Entry
	problems, err := state.Each(ctx, st, func(e state.Entry) bool {
		if e.Task.Type() != state.TypeWait && tasks.Live(e) {
			list = append(list, e)
		}
		return true
	}, state.Pending, state.Running, state.Paused)
	if err != nil {
		return err
	}
	s.WarnUnreadable(problems)
	slices.SortFunc(list, state.Compare)
	now := s.Stamp()
	text, err := forms[s.Args[0]](list, now)
	if err != nil {
		return err
	}
	if s.InJSON {
		s.Emit(exportJSON{now, s.Args[0], len(list), text})
	} else if text != "" {
		s.Line("%s", strings.TrimSuffix(text, "\n"))
	}
	return view.Incomplete(problems)
}

// saved is a task on a line of jsonl: its file, and its state.
type saved struct {
	Due    time.Time      `json:"due"`
	Paused bool           `json:"paused,omitempty"`
	Resume *time.Time     `json:"resume,omitempty"`
	Task   map[string]any `json:"task"`
}

// taskBounds are the bounds of the structure of a task.
var taskBounds = codec.Bounds{Depth: 16, Keys: 20_000, Path: 2_000}

// asJSONL writes each task with all of it, on a line.
func asJSONL(list []state.Entry, _ time.Time) (string, error) {
	var b strings.Builder
	for _, e := range list {
		data, _, err := codec.EncodeTask(e.Task, nil)
		if err != nil {
			return "", err
		}
		tree, _, err := codec.Tree(string(data), taskBounds)
		if err != nil {
			return "", err
		}
		line := saved{Due: e.Due, Paused: e.Held, Task: tree}
		if !e.Resume.IsZero() {
			line.Resume = &e.Resume
		}
		text, err := plain.JSON(line)
		if err != nil {
			return "", err
		}
		b.Write(append(text, '\n'))
	}
	return b.String(), nil
}

// asCrontab writes lines for cron: those of the tasks that have one, below the variables that they
// run with. It writes CRON_TZ only for other zones than the present one, because with it cronie
// skips what falls into a gap of the clock.
func asCrontab(list []state.Entry, now time.Time) (string, error) {
	var b strings.Builder
	zone := now.Location().String() // the zone of cron by default
	set := map[string]string{"SHELL": "/bin/sh"}
	slices.SortStableFunc(list,
		func(x, y state.Entry) int { return len(cronVariables(x.Task)) - len(cronVariables(y.Task)) })
	for _, e := range list {
		t := e.Task
		env := cronVariables(t)
		line, why := cronLine(e, env, set)
		if why != "" {
			fmt.Fprintf(&b, "# %s is left out: %s: %s\n", t.ID, why, view.Describe(t))
			continue
		}
		if t.When.Zone != zone {
			zone = t.When.Zone
			fmt.Fprintf(&b, "CRON_TZ=%s\n", zone)
		}
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if value, has := set[name]; !has || value != env[name] {
				set[name] = env[name]
				fmt.Fprintf(&b, "%s=%s\n", name, cronValue(env[name]))
			}
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String(), nil
}

// cronLine is the line of a task that runs with the variables env, below lines that have set
// others; or why there is none. A line counts that Debian's cron and cronie read as it is meant,
// because Debian's takes no table that has a line it cannot read.
func cronLine(e state.Entry, env, set map[string]string) (line, why string) {
	if why := whyNotCron(e); why != "" {
		return "", why
	}
	command, input := cronCommand(e.Task)
	if e.Task.Run.Dir != env["HOME"] { // cron starts commands in HOME
		command = "cd " + state.ShellLine([]string{e.Task.Run.Dir}) + " && " + command
	}
	text, ok := crontab.Joined(command, input)
	if !ok || strings.Contains(command, `\\`) {
		return "", unwritable
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if _, has := env[name]; !has { // a table cannot unset a variable
			text = "unset " + name + "; " + text
		}
	}
	mask := fmt.Sprintf("umask %03o; ", e.Task.Run.Umask)
	if e.Task.Run.Umask != cronUmask && !strings.HasPrefix(command, mask) {
		text = mask + text
	}
	line = e.Task.When.Text + " " + text
	var b strings.Builder
	for name, value := range env {
		fmt.Fprintf(&b, "%s=%s\n", name, cronValue(value))
	}
	switch read := crontab.Read(b.String()+line+"\n", false); {
	case len(text) > crontab.Longest:
		return "", fmt.Sprintf("its command is longer than the %d bytes that Debian's cron takes", crontab.Longest)
	case len(read.Refused) > 0 && read.Refused[0].Line > len(env):
		return "", read.Refused[0].Reason
	case len(read.Refused) > 0 || !maps.Equal(read.Entries[0].Env, env):
		return "", "a crontab cannot have a variable of it"
	}
	return line, ""
}

// cronCommand is the command of a task as a line of a table has it: the command, and the standard
// input that import gave it.
func cronCommand(t state.Task) (command, input string) {
	if t.Run.Shell == "" {
		return state.ShellLine(t.Run.Argv), ""
	}
	if command, input, ok := withoutInput(t.Run.Shell); ok {
		return command, input
	}
	return t.Run.Shell, ""
}

// cronVariables are the variables that a table has to set for the task, with its shell. Variables
// that cron sets or reads itself are not among them.
func cronVariables(t state.Task) map[string]string {
	env := maps.Clone(t.Run.Env)
	for _, own := range []string{"LOGNAME", "USER", "OURO_HOME", "CRON_TZ", "RANDOM_DELAY"} {
		delete(env, own)
	}
	if env == nil {
		env = map[string]string{}
	}
	env["SHELL"] = "/bin/sh"
	if t.Run.Shell != "" {
		env["SHELL"] = cmp.Or(t.Run.Prog, "/bin/sh")
	}
	return env
}

// cronValue is a value as a table has it: in quotes when it is empty, or when it begins or ends
// with what cron would remove.
func cronValue(value string) string {
	if value != "" && strings.Trim(value, " \t\"'") == value {
		return value
	}
	if strings.Contains(value, `"`) {
		return "'" + value + "'"
	}
	return `"` + value + `"`
}

// cronUmask is the umask of cron(8), which it has of init.
const cronUmask = 0o022

// unwritable says why a command and its input cannot be a line of a crontab.
const unwritable = "a crontab cannot have a backslash before a percent sign, or at the end of a line of the input, " +
	"and Debian's cron makes one backslash of two"

// whyNotCron says why a task cannot be a line of a crontab; empty when it can.
func whyNotCron(e state.Entry) string {
	t := e.Task
	command, _ := cronCommand(t)
	switch {
	case t.When.Kind != string(when.Cron) && !t.When.OfBoots():
		return "its time is not a cron line"
	case t.When.Text[0] != '@' && len(strings.Fields(t.When.Text)) != 5:
		return "its cron line does not have five fields"
	case e.Held:
		return "it is paused"
	case t.When.Count > 0 || !t.When.End.IsZero() || t.When.Given || len(t.When.Except) > 0 || t.When.Delay != "":
		return "its time has bounds, excluded days or a jitter"
	case t.Policy.If != "" || t.Policy.UntilOK || t.Policy.UntilOutput != "":
		return "it has a condition, or ends with a run that says so"
	case t.Type() != state.TypeCommand || t.Run.Script != "" || strings.Contains(command, "\n"):
		return "it is not one line for the shell"
	case strings.ContainsAny(strings.Join(slices.Collect(maps.Values(t.Run.Env)), ""), "\n\x00"):
		return "a variable of it has more than one line"
	}
	return ""
}

// These are the bounds of the events of a task in a calendar.
const (
	icsDays = 30
	icsMost = 500
)

// asICS writes an event for each instant of the coming days.
func asICS(list []state.Entry, now time.Time) (string, error) {
	const stamp = "20060102T150405Z"
	lines := []string{"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//ouro-timer//EN"}
	escaped := strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`)
	for _, e := range list {
		if e.Held {
			continue
		}
		sched, err := rules.Schedule(e.Task)
		if err != nil {
			return "", err
		}
		at, more := e.Due, true
		for n := 0; more && n < icsMost && at.Before(now.AddDate(0, 0, icsDays)); n++ {
			lines = append(lines, "BEGIN:VEVENT", fmt.Sprintf("UID:%s-%s@ouro-timer", e.Task.ID,
				at.UTC().Format(stamp)), "DTSTAMP:"+now.UTC().Format(stamp),
				"DTSTART:"+at.UTC().Format(stamp), "SUMMARY:"+escaped.Replace(view.Describe(e.Task)), "END:VEVENT")
			if more = sched != nil; more {
				at, more = sched.Next(at)
			}
		}
	}
	var b strings.Builder
	for _, line := range append(lines, "END:VCALENDAR") {
		b.WriteString(fold(line))
	}
	return b.String(), nil
}

// fold breaks a line as RFC 5545 says: before it has more than 75 bytes, and never inside a
// character.
func fold(line string) string {
	var b strings.Builder
	size := 0
	for _, r := range line {
		if n := len(string(r)); size+n > 74 {
			b.WriteString("\r\n ")
			size = 1
		}
		size += len(string(r))
		b.WriteRune(r)
	}
	return b.String() + "\r\n"
}
