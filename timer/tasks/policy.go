package tasks

import (
	"regexp"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// maxRetries is the largest number of retries.
const maxRetries = 1000

// policy sets what happens to occurrences that do not go as planned, and who is told. It refuses
// what would have no effect. The task has its schedule and its command already.
func (c *Change) policy() error {
	p := &c.Task.Policy
	setUnless(&p.Catchup, c.Catchup, state.CatchupOnce)
	setUnless(&p.Overlap, c.Overlap, state.OverlapSkip)
	if err := setSpans(c); err != nil {
		return err
	}
	if err := setAttempts(c); err != nil {
		return err
	}
	set(&p.If, c.If)
	set(&p.Rerun, c.Rerun)
	set(&p.UntilOK, c.UntilOK)
	if c.UntilOutput != nil {
		p.UntilOutput = *c.UntilOutput
		if _, err := regexp.Compile(p.UntilOutput); err != nil {
			return problem.Of(problem.T("%s is not a regular expression: %s", problem.Option("until-output"), problem.RegexFault(err)),
				problem.T("such as 'status: (done|failed)', or '(?m)^done$' for a line"))
		}
	}
	if err := c.resources(); err != nil {
		return err
	}
	if err := refuseWithoutEffect(c); err != nil {
		return err
	}
	return telling{c}.tell()
}

// setSpans sets the lengths of time.
func setSpans(c *Change) error {
	p := &c.Task.Policy
	for _, d := range []struct {
		name  problem.Option
		said  *string
		least time.Duration
		to    *string
	}{{"window", c.Window, time.Second, &p.Window}, {"timeout", c.Timeout, time.Millisecond, &p.Timeout}, {"backoff", c.Backoff, time.Millisecond, &p.Backoff}} {
		if d.said == nil {
			continue
		}
		text, err := policySpan(d.name, *d.said, d.least)
		if err != nil {
			return err
		}
		*d.to = text
	}
	return nil
}

// setAttempts sets how often a failed run is tried again, and how fast the pauses grow.
func setAttempts(c *Change) error {
	t, p := &c.Task, &c.Task.Policy
	if c.Retries != nil {
		n := *c.Retries
		if n < 0 || n > maxRetries {
			return problem.Of(problem.T("%s is %d", problem.Option("retries"), n), problem.T("give 0 to %d", maxRetries))
		}
		if p.Retries = n; n == 0 && t.Type() == state.TypeAgent && c.Backoff == nil {
			p.Backoff = "" // its default
		}
	}
	if c.Factor != nil {
		if p.Factor = *c.Factor; p.Factor == 0 && !c.adds {
			p.Factor = rules.BackoffFactor // an edit takes it back
		}
		if p.Factor < 1 || p.Factor > rules.BackoffFactorMost {
			return problem.Of(problem.T("%s is %d", problem.Option("backoff-factor"), p.Factor), problem.T("give 1 to %d; 1 keeps the pause as it is", rules.BackoffFactorMost))
		}
		if p.Factor == rules.BackoffFactor {
			p.Factor = 0
		}
	}
	return nil
}

// refuseWithoutEffect refuses what this call sets and the task cannot use.
func refuseWithoutEffect(c *Change) error {
	t, p := &c.Task, &c.Task.Policy
	message, agent, once := t.Type() == state.TypeMessage, t.Type() == state.TypeAgent, !t.Recurring()
	for _, odd := range []policyRow{
		{"window", "", message && p.Window != "", problem.T("a message is told however late; leave it out")},
		{"overlap", "", message && p.Overlap != "", problem.T("messages do not overlap; leave it out")},
		{"timeout", "", message && p.Timeout != "", problem.T("it is for commands; leave it out")},
		{"retries", 0, message && p.Retries > 0, problem.T("it is for commands; leave it out")},
		{"nice", 0, message && p.Nice != 0, problem.T("it is for commands; leave it out")},
		{"ionice", "none", message && p.IONice != "", problem.T("it is for commands; leave it out")},
		{"memory", "0", message && p.Memory > 0, problem.T("it is for commands; leave it out")},
		{"cpu", "0", message && p.CPU > 0, problem.T("it is for commands; leave it out")},
		{"nice", 0, agent && p.Nice != 0, problem.T("an agent runs beside its tasks; leave it out, or limit the runner")},
		{"ionice", "none", agent && p.IONice != "", problem.T("an agent runs beside its tasks; leave it out, or limit the runner")},
		{"memory", "0", agent && p.Memory > 0, problem.T("an agent runs beside its tasks; leave it out, or limit the runner")},
		{"cpu", "0", agent && p.CPU > 0, problem.T("an agent runs beside its tasks; leave it out, or limit the runner")},
		{"rerun-interrupted", false, agent && p.Rerun, problem.T("an agent is told at least once anyway; leave it out")},
		{"until-output", "", agent && p.UntilOutput != "", problem.T("an agent answers, and has no output; give %s, %s or %s", problem.Option("until-ok"), problem.Option("count"), problem.Option("end"))},
		{"rerun-interrupted", false, message && p.Rerun, problem.T("a message is told at least once anyway; leave it out")},
		{"until-ok", false, message && p.UntilOK, problem.T("it is for commands; give %s or %s", problem.Option("count"), problem.Option("end"))},
		{"until-output", "", message && p.UntilOutput != "", problem.T("it is for commands; give %s or %s", problem.Option("count"), problem.Option("end"))},
		{"overlap", "", once && p.Overlap != "", problem.T("it happens once; leave it out")},
		{"catchup", "", once && p.Catchup == state.CatchupAll, problem.T("it happens once; %s keeps it from running late", problem.Set("catchup", state.CatchupSkip))},
		{"until-ok", false, once && p.UntilOK, problem.T("it happens once; give a recurrence such as every 5m")},
		{"until-output", "", once && p.UntilOutput != "", problem.T("it happens once; give a recurrence such as every 5m")},
		{"overlap", "", t.When.OfBoots() && p.Overlap != "", problem.T("no run of a boot goes on in the next; leave it out")},
		{"catchup", "", t.When.OfBoots() && p.Catchup != "", problem.T("a boot that nobody saw is not made up for; leave it out")},
		{"backoff", "", p.Backoff != "" && p.Retries == 0, problem.T("there are no further attempts without %s; give %s", problem.Option("retries"), problem.Set("retries", 3))},
		{"backoff-factor", rules.BackoffFactor, p.Factor != 0 && p.Retries < 2, problem.T("it is about the second further attempt and those after it; give %s", problem.Set("retries", 3))},
	} {
		if odd.bad {
			return c.noEffect(odd, odd.name)
		}
	}
	return nil
}

// policyRow is a part of a policy that may have no effect on a task of this kind.
type policyRow struct {
	name problem.Option
	none any // the value that removes it
	bad  bool
	hint problem.Text
}

// noEffect refuses what would have no effect, in the words of the request, or because the task had
// it before.
func (c *Change) noEffect(row policyRow, as any) error {
	if c.given(row.name) == "" {
		return problem.Of(problem.T("the task's %s would have no effect any more", row.name), problem.T("take it back with %s", problem.Set(row.name, row.none)))
	}
	return problem.Of(problem.T("%s has no effect here", as), row.hint)
}

// setUnless sets a field to a word of the request. The default word empties it.
func setUnless(to *string, said *string, usual string) {
	if set(to, said); said != nil && *said == usual {
		*to = ""
	}
}

// policySpan reads a duration of a policy and returns it in the form in which it is kept. A
// time-out of 0 means none, as in timeout(1).
func policySpan(name problem.Option, text string, least time.Duration) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	d, err := Duration(text)
	switch {
	case err != nil:
		return "", about(name, err)
	case d == 0 && name == "timeout":
		return "", nil
	case d < least:
		return "", problem.Of(problem.T("%s is too short", problem.Set(name, text)), problem.T("give %s or more", least))
	}
	return d.String(), nil
}

// about returns an error about the value of an option.
func about(name problem.Option, err error) error {
	return explain(err).About(name)
}

// explain returns the problem of an error.
func explain(err error) *problem.Problem {
	if p := problem.As(err); p != nil {
		return p
	}
	return problem.New(problem.Failed, problem.T(err.Error()), problem.Text{})
}
