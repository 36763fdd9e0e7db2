package cmd

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// policyFlags are the flags that say what becomes of occurrences that do not go by the plan, and who is told.
func policyFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "catchup", DefaultText: state.CatchupOnce, Usage: "of instants missed while the machine was off, run `once` (the latest), all, or skip them"},
		&cli.StringFlag{Name: "window", Usage: "never start later than `DURATION` after the time: what is later is missed"},
		&cli.StringFlag{Name: "overlap", DefaultText: state.OverlapSkip, Usage: "when the time comes while a run goes on: `skip` it, queue one, allow both, or replace the run"},
		&cli.StringFlag{Name: "if", Usage: "ask the `SHELL` text first: when it does not end with 0, the occurrence is skipped"},
		&cli.StringFlag{Name: "timeout", Usage: "end a run that takes longer than `DURATION`: TERM to its group, KILL 10 s later; 0 is no limit"},
		&cli.IntFlag{Name: "retries", Usage: "after a failure or a time-out make up to `N` more attempts; the output kept is the last one's"},
		&cli.StringFlag{Name: "backoff", DefaultText: spanText(rules.BackoffLeast), Usage: "wait `DURATION` before the first of them, and twice as long before each further one; for an agent " + agentBackoff + " when it is not given"},
		&cli.BoolFlag{Name: "rerun-interrupted", Usage: "run again what was going on when the machine or the runner died"},
		&cli.BoolFlag{Name: "until-ok", Usage: "end the recurrence with the first run that succeeds"},
		&cli.StringFlag{Name: "until-output", Usage: "end the recurrence when a run's standard output has the regular expression `REGEX`; (?m)^done$ is a line"},
	}, tellFlags()...)
}

// retriesMost bounds --retries.
const retriesMost = 1000

// readPolicy reads policyFlags into the task's policy, as far as they were given, and refuses what would do nothing. The
// task's schedule and command are read already. An empty value takes back what was said before.
func (s *session) readPolicy(t *state.Task) error {
	p := &t.Policy
	message, agent, once := t.Type() == state.TypeMessage, t.Type() == state.TypeAgent, !t.Recurring()
	for _, w := range []struct {
		flag string
		to   *string
	}{{"catchup", &p.Catchup}, {"overlap", &p.Overlap}} {
		if !s.cli.IsSet(w.flag) {
			continue
		}
		word, err := oneOf(w.flag, s.cli.String(w.flag))
		if err != nil {
			return err
		}
		if word == choices[w.flag][0] {
			word = "" // the default
		}
		*w.to = word
	}
	for _, d := range []struct {
		flag  string
		least time.Duration
		to    *string
	}{{"window", time.Second, &p.Window}, {"timeout", time.Millisecond, &p.Timeout}, {"backoff", time.Millisecond, &p.Backoff}} {
		if !s.cli.IsSet(d.flag) {
			continue
		}
		text, err := s.policySpan(d.flag, d.least)
		if err != nil {
			return err
		}
		*d.to = text
	}
	if s.cli.IsSet("retries") {
		n := s.cli.Int("retries")
		if n < 0 || n > retriesMost {
			return usage("--retries is "+strconv.Itoa(n), "give 0 to "+strconv.Itoa(retriesMost))
		}
		if p.Retries = n; n == 0 && agent && !s.cli.IsSet("backoff") {
			p.Backoff = "" // it has one that nobody gave
		}
	}
	if s.cli.IsSet("if") {
		p.If = s.cli.String("if")
	}
	if s.cli.IsSet("rerun-interrupted") {
		p.Rerun = s.cli.Bool("rerun-interrupted")
	}
	if s.cli.IsSet("until-ok") {
		p.UntilOK = s.cli.Bool("until-ok")
	}
	if s.cli.IsSet("until-output") {
		p.UntilOutput = s.cli.String("until-output")
		if _, err := regexp.Compile(p.UntilOutput); err != nil {
			return usage("--until-output is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "),
				"such as 'status: (done|failed)', or '(?m)^done$' for a line")
		}
	}
	for _, odd := range []struct {
		flag string
		bad  bool
		hint string
	}{
		{"window", message && p.Window != "", "a message is told however late; leave it out"},
		{"overlap", message && p.Overlap != "", "messages do not overlap; leave it out"},
		{"timeout", message && p.Timeout != "", "it is for commands; leave it out"},
		{"retries", message && p.Retries > 0, "it is for commands; leave it out"},
		{"rerun-interrupted", agent && p.Rerun, "an agent is told at least once anyway; leave it out"},
		{"until-output", agent && p.UntilOutput != "", "an agent answers, and has no output; give --until-ok, --count or --end"},
		{"rerun-interrupted", message && p.Rerun, "a message is told at least once anyway; leave it out"},
		{"until-ok", message && p.UntilOK, "it is for commands; give --count or --end"},
		{"until-output", message && p.UntilOutput != "", "it is for commands; give --count or --end"},
		{"overlap", once && p.Overlap != "", "it happens once; leave it out"},
		{"catchup", once && p.Catchup == state.CatchupAll, "it happens once; --catchup skip keeps it from running late"},
		{"until-ok", once && p.UntilOK, "it happens once; give a recurrence such as every 5m"},
		{"until-output", once && p.UntilOutput != "", "it happens once; give a recurrence such as every 5m"},
		{"backoff", p.Backoff != "" && p.Retries == 0, "there are no further attempts without --retries; give --retries 3"},
	} {
		if odd.bad {
			return usage("--"+odd.flag+" has no effect here", odd.hint)
		}
	}
	return s.readTell(t)
}

// policySpan reads a duration of a policy, in the form it is kept in. A time-out of 0 is none, as timeout(1) has it.
func (s *session) policySpan(flag string, least time.Duration) (string, error) {
	text := s.cli.String(flag)
	if t := strings.TrimSpace(text); t == "" || t == "0" && flag == "timeout" {
		return "", nil
	}
	d, err := when.Duration(text)
	if err != nil {
		f := *explain(err)
		f.message = "--" + flag + ": " + f.message
		return "", &f
	}
	if d == 0 && flag == "timeout" {
		return "", nil
	}
	if d < least {
		return "", usage("--"+flag+" "+text+" is too short", "give "+least.String()+" or more")
	}
	return d.String(), nil
}
