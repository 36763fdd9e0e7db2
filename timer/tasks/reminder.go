package tasks

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// What happens when an agent does not answer, unless the request says otherwise.
const (
	agentTimeout = "30s"
	agentRetries = 2
	AgentBackoff = "1s"
)

// maxTitle is the longest title or project, in characters.
const maxTitle = 500

// reminder sets what an agent is told. It also sets or resets the policy when a task starts or
// stops to be one for an agent. A task that tells no agent has nothing of it. The text is the title
// when there is no other.
func (c *Change) reminder() error {
	t, was := &c.Task, c.was.Task
	now, before := t.Type() == state.TypeAgent, was.Type() == state.TypeAgent
	switch {
	case now && !before:
		agentPolicy(&t.Policy)
	case before && !now:
		if t.Text == "" && t.Type() == state.TypeMessage {
			t.Text = was.Reminder.Title
		} else if t.Description == "" {
			t.Description = was.Reminder.Title
		}
		t.Reminder = state.Reminder{}
		noAgentPolicy(&t.Policy)
	}
	if !now {
		if name := c.given("title", "project", "priority", "rpc-request"); name != "" {
			return problem.Of(problem.T("%s is for agents, and there is no %s", name, problem.Option("agent")),
				problem.T("name the program: %s; for lists, %s says what a task is", problem.Set("agent", "./agent.py"), problem.Option("description")))
		}
		return nil
	}
	r := &t.Reminder
	if t.Text != "" {
		if c.Title != nil {
			return problem.Of(problem.T("%s are the same of an agent", problem.Options(" and ", "task", "title")), problem.T("give %s, and %s for the long text", problem.Option("title"), problem.Option("description")))
		}
		r.Title, t.Text = t.Text, ""
	}
	for _, f := range []struct {
		name problem.Option
		said *string
		to   *string
	}{{"title", c.Title, &r.Title}, {"project", c.Project, &r.Project}} {
		if f.said != nil {
			*f.to = strings.TrimSpace(*f.said)
		}
		if utf8.RuneCountInString(*f.to) > maxTitle || notify.HasControl(*f.to) {
			return problem.Of(problem.T("%s takes one line of at most %d characters, none of which controls a terminal", f.name, maxTitle), problem.T("the long text is %s", problem.Option("description")))
		}
	}
	setUnless(&r.Priority, c.Priority, state.PriorityMedium)
	set(&r.Request, c.Request)
	return nil
}

// agentPolicy sets the policy of a task that tells an agent from now on: somebody has to answer,
// and is asked more than once.
func agentPolicy(p *state.Policy) {
	if p.Timeout == "" {
		p.Timeout = agentTimeout
	}
	if p.Retries == 0 {
		p.Retries, p.Backoff = agentRetries, AgentBackoff
	}
}

// noAgentPolicy undoes agentPolicy, except for what somebody has set.
func noAgentPolicy(p *state.Policy) {
	if p.Timeout == agentTimeout {
		p.Timeout = ""
	}
	if p.Retries == agentRetries && p.Backoff == AgentBackoff {
		p.Retries, p.Backoff = 0, ""
	}
}

// agentWords splits the line of the program of an agent.
func agentWords(line string) ([]string, error) {
	words, shell, err := Words(line)
	switch {
	case errors.Is(err, ErrQuote):
		return nil, problem.Of(problem.T("%s %s has a quote that is not closed", problem.Option("agent"), plain.Quote(line)), problem.T("close it, as in %s", problem.Set("agent", "python3 'my agent.py'")))
	case err != nil:
		return nil, problem.Of(problem.T("%s %s ends with a backslash", problem.Option("agent"), plain.Quote(line)), problem.T(`leave it out, or write \\`))
	case shell != "":
		return nil, problem.Of(problem.T("%s runs without a shell, and %s has no meaning", problem.Option("agent"), plain.Quote(shell)), problem.T("name the shell: %s", problem.Set("agent", "sh -c '...'")))
	}
	return words, nil
}
