package schedule

import (
	"regexp"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/timer/problem"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// policyFlags are the flags that say what becomes of occurrences that do not go by the plan, and who is told.
func policyFlags() option.Rows {
	return append(option.Rows{
		option.Option{Name: "catchup", Kind: option.Word, Choices: []string{state.CatchupOnce, state.CatchupAll, state.CatchupSkip}, Default: state.CatchupOnce, Help: "of instants missed while the machine was off, run once (the latest), all, or skip them"},
		option.Option{Name: "window", Kind: option.Duration, Help: "never start later than DURATION after the time: what is later is missed"},
		option.Option{Name: "overlap", Kind: option.Word, Choices: []string{state.OverlapSkip, state.OverlapQueue, state.OverlapAllow, state.OverlapReplace}, Default: state.OverlapSkip, Help: "when the time comes while a run goes on: skip it, queue one, allow both, or replace the run"},
		option.Option{Name: "if", Kind: option.Shell, Help: "ask the SHELL text first: when it does not end with 0, the occurrence is skipped"},
		option.Option{Name: "timeout", Kind: option.Duration, Help: "end a run that takes longer than DURATION: TERM to its group, KILL 10 s later; 0 is no limit"},
		option.Option{Name: "retries", Kind: option.Whole, Help: "after a failure or a time-out make up to N more attempts; the output kept is the last one's"},
		option.Option{Name: "backoff", Kind: option.Duration, Default: cli.SpanText(rules.BackoffLeast), Help: "wait DURATION before the first of them, and twice as long before each further one; for an agent " + agentBackoff + " when it is not given"},
		option.Option{Name: "rerun-interrupted", Kind: option.Flag, Help: "run again what was going on when the machine or the runner died"},
		option.Option{Name: "until-ok", Kind: option.Flag, Help: "end the recurrence with the first run that succeeds"},
		option.Option{Name: "until-output", Kind: option.Regex, Help: "end the recurrence when a run's standard output has the regular expression REGEX; (?m)^done$ is a line"},
	}, tellFlags()...)
}

// retriesMost bounds --retries.
const retriesMost = 1000

// readPolicy reads policyFlags into the task's policy, as far as they were given, and refuses what would do nothing. The
// task's schedule and command are read already. An empty value takes back what was said before.
func readPolicy(s *cli.Call, t *state.Task) error {
	p := &t.Policy
	message, agent, once := t.Type() == state.TypeMessage, t.Type() == state.TypeAgent, !t.Recurring()
	for _, w := range []struct {
		flag string
		to   *string
	}{{"catchup", &p.Catchup}, {"overlap", &p.Overlap}} {
		if !s.Opt.Has(w.flag) {
			continue
		}
		word, err := s.Cmd.Options.Named(w.flag).Choose(s.Opt.Text(w.flag))
		if err != nil {
			return err
		}
		if word == s.Cmd.Options.Named(w.flag).Choices[0] {
			word = "" // the default
		}
		*w.to = word
	}
	for _, d := range []struct {
		flag  string
		least time.Duration
		to    *string
	}{{"window", time.Second, &p.Window}, {"timeout", time.Millisecond, &p.Timeout}, {"backoff", time.Millisecond, &p.Backoff}} {
		if !s.Opt.Has(d.flag) {
			continue
		}
		text, err := policySpan(s, d.flag, d.least)
		if err != nil {
			return err
		}
		*d.to = text
	}
	if s.Opt.Has("retries") {
		n := s.Opt.Int("retries")
		if n < 0 || n > retriesMost {
			return problem.Of(problem.T("%s is %d", problem.Option("retries"), n), problem.T("give 0 to %d", retriesMost))
		}
		if p.Retries = n; n == 0 && agent && !s.Opt.Has("backoff") {
			p.Backoff = "" // it has one that nobody gave
		}
	}
	if s.Opt.Has("if") {
		p.If = s.Opt.Text("if")
	}
	if s.Opt.Has("rerun-interrupted") {
		p.Rerun = s.Opt.Bool("rerun-interrupted")
	}
	if s.Opt.Has("until-ok") {
		p.UntilOK = s.Opt.Bool("until-ok")
	}
	if s.Opt.Has("until-output") {
		p.UntilOutput = s.Opt.Text("until-output")
		if _, err := regexp.Compile(p.UntilOutput); err != nil {
			return problem.Of(problem.T("%s is no regular expression: %s", problem.Option("until-output"), cli.RegexFault(err)),
				problem.T("such as 'status: (done|failed)', or '(?m)^done$' for a line"))
		}
	}
	for _, odd := range []struct {
		flag problem.Option
		bad  bool
		hint problem.Text
	}{
		{"window", message && p.Window != "", problem.T("a message is told however late; leave it out")},
		{"overlap", message && p.Overlap != "", problem.T("messages do not overlap; leave it out")},
		{"timeout", message && p.Timeout != "", problem.T("it is for commands; leave it out")},
		{"retries", message && p.Retries > 0, problem.T("it is for commands; leave it out")},
		{"rerun-interrupted", agent && p.Rerun, problem.T("an agent is told at least once anyway; leave it out")},
		{"until-output", agent && p.UntilOutput != "", problem.T("an agent answers, and has no output; give %s, %s or %s", problem.Option("until-ok"), problem.Option("count"), problem.Option("end"))},
		{"rerun-interrupted", message && p.Rerun, problem.T("a message is told at least once anyway; leave it out")},
		{"until-ok", message && p.UntilOK, problem.T("it is for commands; give %s or %s", problem.Option("count"), problem.Option("end"))},
		{"until-output", message && p.UntilOutput != "", problem.T("it is for commands; give %s or %s", problem.Option("count"), problem.Option("end"))},
		{"overlap", once && p.Overlap != "", problem.T("it happens once; leave it out")},
		{"catchup", once && p.Catchup == state.CatchupAll, problem.T("it happens once; %s keeps it from running late", problem.Set("catchup", state.CatchupSkip))},
		{"until-ok", once && p.UntilOK, problem.T("it happens once; give a recurrence such as every 5m")},
		{"until-output", once && p.UntilOutput != "", problem.T("it happens once; give a recurrence such as every 5m")},
		{"backoff", p.Backoff != "" && p.Retries == 0, problem.T("there are no further attempts without %s; give %s", problem.Option("retries"), problem.Set("retries", 3))},
	} {
		if odd.bad {
			return noEffect(odd.flag, odd.flag, odd.hint)
		}
	}
	return readTell(s, t)
}

// noEffect refuses an option, said with or without its value, that would do nothing.
func noEffect(name problem.Option, said any, hint problem.Text) error {
	p := problem.Of(problem.T("%s has no effect here", said), hint)
	p.Option = name
	return p
}

// policySpan reads a duration of a policy, in the form it is kept in. A time-out of 0 is none, as timeout(1) has it.
func policySpan(s *cli.Call, flag string, least time.Duration) (string, error) {
	text := s.Opt.Text(flag)
	if t := strings.TrimSpace(text); t == "" || t == "0" && flag == "timeout" {
		return "", nil
	}
	d, err := when.Duration(text)
	if err != nil {
		return "", cli.Explain(err).About(problem.Option(flag))
	}
	if d == 0 && flag == "timeout" {
		return "", nil
	}
	if d < least {
		return "", problem.Of(problem.T("%s is too short", problem.Set(problem.Option(flag), text)), problem.T("give %s or more", least))
	}
	return d.String(), nil
}
