package tasks

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// What becomes of an agent that does not answer, unless the call says otherwise.
const (
	agentTimeout = "30s"
	agentRetries = 2
	AgentBackoff = "1s"
)

// titleMost bounds a title and a project, in characters.
const titleMost = 500

// reminder gives the task what an agent is told, as far as it is said, and settles what becomes of it when a task is no longer one for an
// agent, or is from now on. A task that tells no agent has none of it. The text is the title of one that has no other.
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
		return c.noReminder()
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
		if utf8.RuneCountInString(*f.to) > titleMost || notify.HasControl(*f.to) {
			return problem.Of(problem.T("%s takes one line of %d characters at most", f.name, titleMost), problem.T("the long text is %s", problem.Option("description")))
		}
	}
	setUnless(&r.Priority, c.Priority, state.PriorityMedium)
	set(&r.Request, c.Request)
	return nil
}

// noReminder refuses what an agent would be told of a task that tells none.
func (c *Change) noReminder() error {
	for _, odd := range []struct {
		name problem.Option
		said bool
	}{{"title", c.Title != nil}, {"project", c.Project != nil}, {"priority", c.Priority != nil}, {"rpc-request", c.Request != nil}} {
		if odd.said {
			return problem.Of(problem.T("%s is for agents, and there is no %s", odd.name, problem.Option("agent")),
				problem.T("name the program: %s; for lists, %s says what a task is", problem.Set("agent", "./agent.py"), problem.Option("description")))
		}
	}
	return nil
}

// agentPolicy is the policy of a task that tells an agent from now on: somebody has to answer, and is asked more than once.
func agentPolicy(p *state.Policy) {
	if p.Timeout == "" {
		p.Timeout = agentTimeout
	}
	if p.Retries == 0 {
		p.Retries, p.Backoff = agentRetries, AgentBackoff
	}
}

// noAgentPolicy takes agentPolicy back, as far as nobody has said otherwise.
func noAgentPolicy(p *state.Policy) {
	if p.Timeout == agentTimeout {
		p.Timeout = ""
	}
	if p.Retries == agentRetries && p.Backoff == AgentBackoff {
		p.Retries, p.Backoff = 0, ""
	}
}

// noShell are words that only a shell would give a meaning.
var noShell = []string{"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "|&"}

// splitWords takes a line apart as a shell would, without being one: quotes and backslashes count, and nothing else does. Words that a shell
// would do something by are refused, rather than handed to a program that does not expect them.
func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	in, quoted := false, false // a word; something of it is quoted
	end := func() error {
		if w := word.String(); in && !quoted && slices.Contains(noShell, w) {
			return problem.Of(problem.T("%s runs without a shell, and %s has no meaning", problem.Option("agent"), plain.Quote(w)), problem.T("name the shell: %s", problem.Set("agent", "sh -c '...'")))
		}
		if in {
			words = append(words, word.String())
		}
		word.Reset()
		in, quoted = false, false
		return nil
	}
	open := problem.Of(problem.T("%s %s has a quote that is not closed", problem.Option("agent"), plain.Quote(line)), problem.T("close it, as in %s", problem.Set("agent", "python3 'my agent.py'")))
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if err := end(); err != nil {
				return nil, err
			}
		case '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, open
			}
			word.WriteString(line[i+1 : i+1+n])
			in, quoted = true, true
			i += n + 1
		case '"':
			in, quoted = true, true
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0 {
					i++
				}
				word.WriteByte(line[i])
			}
			if i >= len(line) {
				return nil, open
			}
		case '\\':
			if i++; i >= len(line) {
				return nil, problem.Of(problem.T("%s %s ends with a backslash", problem.Option("agent"), plain.Quote(line)), problem.T(`leave it out, or write \\`))
			}
			word.WriteByte(line[i])
			in, quoted = true, true
		default:
			word.WriteByte(c)
			in = true
		}
	}
	return words, end()
}
