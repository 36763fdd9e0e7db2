package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/crontab"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// readCrontab returns the table that the call names, as a source.
func readCrontab(ctx context.Context, s *cli.Call) (source, error) {
	switch {
	case len(s.Args) > 2:
		return source{}, problem.Of(problem.T("import crontab takes one file, and %s is a second one",
			cli.Quote(s.Args[2])), problem.T("import one at a time"))
	case len(s.Args) == 2 && s.Opt.Bool("user"):
		return source{}, problem.Of(problem.T("%s is given beside %s, which is your own crontab",
			cli.Quote(s.Args[1]), problem.Option("user")), problem.T("leave one of them out"))
	case len(s.Args) == 1 && !s.Opt.Bool("user"):
		return source{}, problem.Of(problem.T("import crontab needs a crontab"),
			problem.T("your own: %s; a file: %s; standard input: %s",
				problem.To("import", kindCrontab).With("user", true),
				problem.To("import", kindCrontab, "/etc/crontab"), problem.To("import", kindCrontab, "-")))
	}
	me, err := currentUser()
	if err != nil {
		return source{}, err
	}
	name, text := "crontab -l", ""
	if s.Opt.Bool("user") {
		text, err = outputOf(ctx, "crontab", "-l")
	} else {
		name = s.Args[1]
		text, err = readSource(ctx, s, name)
	}
	if err != nil {
		return source{}, err
	}
	from := source{name: name, group: groupOf(s, kindCrontab, name)}
	if s.Opt.Bool("user") && !s.Opt.Has("group") {
		from.group = kindCrontab + ":" + me.Username + ":"
	}
	path := cli.Absolute(s, name)
	system := s.Opt.Bool("system") || path == "/etc/crontab" || filepath.Base(filepath.Dir(path)) == "cron.d"
	if line, named := crontab.Of(text); named && !system {
		system = true
		from.notes = append(from.notes,
			fmt.Sprintf("it is read as a system table, with a user before each command: line %d has root there", line))
	}
	own, err := s.Zone()
	if err != nil {
		return source{}, err
	}
	table := crontab.Read(text, system)
	r := cronReader{Call: s, me: me, machineZone: own, group: from.group, seen: map[string]int{},
		comparisons: map[string]comparison{}}
	for _, e := range table.Entries {
		w := r.task(e)
		w.line, w.text = e.Line, strings.TrimSuffix(strings.Split(text, "\n")[e.Line-1], "\r")
		from.list = append(from.list, w)
	}
	for _, refused := range table.Refused {
		from.list = append(from.list, sourceTask{line: refused.Line, text: refused.Text,
			err: problem.Of(problem.T("%s", refused.Reason), problem.T("%s", refused.Hint))})
	}
	for _, note := range table.Notes {
		from.notes = append(from.notes, fmt.Sprintf("line %d: %s", note.Line, note.Reason))
	}
	slices.SortStableFunc(from.list, func(a, b sourceTask) int { return cmp.Compare(a.line, b.line) })
	return from, nil
}

// cronReader makes tasks of the entries of a table.
type cronReader struct {
	*cli.Call
	me          *user.User
	machineZone *time.Location
	group       string
	seen        map[string]int        // how often a command came
	comparisons map[string]comparison // by schedule and zone, so that each is compared once
}

// task is the task that an entry becomes.
func (r *cronReader) task(e crontab.Entry) (w sourceTask) {
	home, run, err := r.runAs(e)
	if err != nil {
		w.err = err
		return w
	}
	zone := r.machineZone
	if name := e.Env["CRON_TZ"]; name != "" {
		if zone, w.err = civil.LoadZone(name); w.err != nil {
			return w
		}
	}
	name := r.me.Username
	if run != nil {
		name = e.User
	}
	env := cronEnv(e, name, home, r.Getenv("OURO_HOME"))
	w.world = schedule.WorldOf(r.Call)
	w.world.Times = func() (when.Options, error) {
		o, err := r.TimeOptions()
		o.Zone, o.Now = zone, o.Now.In(zone)
		return o, err
	}
	w.world.Around = func() (*tasks.Surroundings, error) {
		return &tasks.Surroundings{Dir: cmp.Or(env["HOME"], "/"), Umask: proc.Umask(), Env: env}, nil
	}
	shell := env["SHELL"]
	text := e.Command
	if e.Input != "" {
		if text = withInput(e.Command, e.Input); !slices.Contains([]string{"sh", "bash", "dash", "ksh", "zsh", "ash",
			"mksh"}, filepath.Base(shell)) {
			w.err = problem.Of(problem.T("%s has standard input after a %%, which needs a shell like sh, and SHELL is %s",
				cli.Quote(e.Command), shell), problem.T("pipe the text into the command, and escape the %% signs"))
			return w
		}
	}
	w.spec = tasks.Spec{When: new(e.Schedule), Form: when.CronForm, Key: new(r.key(e))}
	if description := strings.TrimSpace(e.Command); run != nil || text != e.Command {
		w.spec.Description = &description
	}
	if run != nil {
		w.spec.Command = append(run, shell, "-c", text)
	} else {
		w.spec.Shell, w.spec.Program = &text, &shell
	}
	r.setRecipients(e, &w)
	if delay, err := strconv.Atoi(strings.TrimSpace(e.Env["RANDOM_DELAY"])); err == nil && delay > 0 &&
		delay <= 24*60 && e.Schedule != crontab.Reboot {
		w.spec.Jitter = new(fmt.Sprintf("%dm", delay))
	}
	if e.Schedule == crontab.Reboot { // @reboot has no instants to compare
		return w
	}
	w.compare = func(sched *when.Schedule, now time.Time) comparison { return r.compare(e, sched, now, zone) }
	return w
}

// runAs returns the home of the user that runs an entry, and the words before its command that make
// it run as that user; nil when that is the user who calls.
func (r *cronReader) runAs(e crontab.Entry) (home string, run []string, err error) {
	if e.User == "" || e.User == r.me.Username || r.Opt.Bool("as-me") {
		return cmp.Or(r.Getenv("HOME"), r.me.HomeDir), nil, nil
	}
	other, err := otherUser(r.me, e.User)
	if err != nil {
		return "", nil, err
	}
	return other.HomeDir, []string{"runuser", "-u", e.User, "--"}, nil
}

// cronEnv are the variables that cron gives a command, and over them those of the table.
func cronEnv(e crontab.Entry, name, home, state string) map[string]string {
	env := map[string]string{"SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", "HOME": home}
	if state != "" {
		env["OURO_HOME"] = state
	}
	maps.Copy(env, e.Env)
	env["LOGNAME"], env["USER"] = name, name
	return env
}

// withInput returns a text for the shell that gives a command its standard input.
func withInput(command, input string) string {
	end := "INPUT"
	for strings.Contains("\n"+input, "\n"+end+"\n") {
		end += "_"
	}
	return "{ " + command + "\n} <<'" + end + "'\n" + input + end
}

// withoutInput undoes withInput; it returns false when withInput did not make the text.
func withoutInput(text string) (command, input string, ok bool) {
	command, rest, _ := strings.Cut(strings.TrimPrefix(text, "{ "), "\n} <<'")
	_, rest, _ = strings.Cut(rest, "'\n")
	i := strings.LastIndexByte(rest, '\n')
	if i < 0 {
		return "", "", false
	}
	input = rest[:i+1]
	return command, input, withInput(command, input) == text
}

// key is the key of the task of an entry: the group, a hash of the command, and a number when the
// command comes again.
func (r *cronReader) key(e crontab.Entry) string {
	sum := sha256.Sum256([]byte(e.User + "\x00" + strings.TrimSpace(e.Command) + "\x00" + e.Input))
	key := fmt.Sprintf("%s%x", r.group, sum[:4])
	if r.seen[key]++; r.seen[key] > 1 {
		key += fmt.Sprintf(".%d", r.seen[key])
	}
	return key
}

// setRecipients sets who is told about a task: cron mails output to MAILTO. Mail on the machine
// itself becomes an item of the inbox.
func (r *cronReader) setRecipients(e crontab.Entry, w *sourceTask) {
	to, set := e.Env["MAILTO"]
	on := ""
	switch {
	case set && strings.TrimSpace(to) == "":
		on = state.NotifyNever
	case e.OnError:
		on = state.NotifyFailure
	}
	for _, address := range strings.FieldsFunc(to, func(c rune) bool { return c == ',' || c == ' ' }) {
		channel := "email:" + address
		if !strings.Contains(address, "@") {
			w.notes = append(w.notes, "mail to "+address+" is mail of this machine: what it writes waits in the inbox")
			continue
		}
		w.spec.Notify = append(w.spec.Notify, channel)
	}
	if on != "" {
		w.spec.NotifyOn = &on
	}
}

// compare compares the instants of the coming year with those of cron.
func (r *cronReader) compare(e crontab.Entry, sched *when.Schedule, now time.Time, zone *time.Location) comparison {
	id := e.Schedule + " " + zone.String()
	if p, done := r.comparisons[id]; done {
		return p
	}
	to := now.AddDate(1, 0, 0)
	there := e.Minutes(now.Add(time.Nanosecond), to, r.machineZone, zone)
	p := compared(sched, now, to, there,
		"cronie does not allow for clock changes of CRON_TZ: it skips what falls into a gap, starts twice what comes twice, and "+
			"starts nothing with a fixed time while the machine's own clock repeats an hour")
	r.comparisons[id] = p
	return p
}

// differences returns the instants that only one of two lists has.
func differences(there, here []time.Time) (list []difference) {
	for len(there) > 0 || len(here) > 0 {
		switch {
		case len(there) > 0 && len(here) > 0 && there[0].Equal(here[0]):
			there, here = there[1:], here[1:]
		case len(here) == 0 || len(there) > 0 && there[0].Before(here[0]):
			list, there = append(list, difference{There: &there[0]}), there[1:]
		default:
			list, here = append(list, difference{Here: &here[0]}), here[1:]
		}
	}
	return list
}
