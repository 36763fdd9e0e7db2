package schedule

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// What becomes of an agent that does not answer, unless the call says otherwise.
const (
	agentTimeout = "30s"
	agentRetries = 2
	agentBackoff = "1s"
)

// titleMost bounds --title and --project, in characters.
const titleMost = 500

// agentFlags are the flags of what is told to an agent process.
func agentFlags() option.Rows {
	return option.Rows{
		option.Option{Name: "agent", Kind: option.File, Value: "PROGRAM", Words: true, Help: "tell the agent process PROGRAM with its arguments, in one word: JSON-RPC on its standard input"},
		option.Option{Name: "title", Kind: option.Text, Help: "with --agent: what it is, in a few words (TEXT)"},
		option.Option{Name: "project", Aliases: []string{"project-id"}, Kind: option.Text, Help: "with --agent: the ID of the project that is told (TEXT)"},
		option.Option{Name: "priority", Kind: option.Word, Choices: []string{state.PriorityMedium, state.PriorityLow, state.PriorityHigh}, Default: state.PriorityMedium, Help: "with --agent: low, medium or high"},
		option.Option{Name: "rpc-request", Kind: option.Flag, Help: "with --agent: send a request with an id, which the answer has to have"},
	}
}

// ofReminder are the agentFlags that say what is told.
var ofReminder = []string{"title", "project", "priority", "rpc-request"}

// readAgent reads the program of an agent.
func readAgent(s *cli.Call, o *AtOptions) error {
	argv, err := SplitWords(s.Opt.Text("agent"))
	if err != nil {
		return err
	}
	if len(argv) == 0 || argv[0] == "" {
		return problem.Of(problem.T("%s has no program", problem.Option("agent")),
			problem.T("%s", problem.To("at", o.Sched.Text).With("agent", "./agent.py --quiet").With("title", "Self-review")))
	}
	if s.Opt.Has("shell") {
		return problem.Of(problem.T("%s is for %s; an agent runs without a shell", problem.Option("shell"), problem.Options(" and ", "c", "file")),
			problem.T("leave it out, or name the shell: %s", problem.Set("agent", "bash -c '...'")))
	}
	o.Task.Run.Agent = argv
	return nil
}

// readReminder reads what an agent is told into the task, as far as it is given. A task that tells no agent has none of it. --task is
// the title of one that has no other.
func readReminder(s *cli.Call, t *state.Task) error {
	if t.Type() != state.TypeAgent {
		for _, name := range ofReminder {
			if s.Opt.Has(name) {
				return problem.Of(problem.T("%s is for agents, and there is no %s", problem.Option(name), problem.Option("agent")),
					problem.T("name the program: %s; for lists, %s says what a task is", problem.Set("agent", "./agent.py"), problem.Option("description")))
			}
		}
		return nil
	}
	r := &t.Reminder
	if t.Text != "" {
		if s.Opt.Has("title") {
			return problem.Of(problem.T("%s are the same of an agent", problem.Options(" and ", "task", "title")), problem.T("give %s, and %s for the long text", problem.Option("title"), problem.Option("description")))
		}
		r.Title, t.Text = t.Text, ""
	}
	for _, f := range []struct {
		name string
		to   *string
	}{{"title", &r.Title}, {"project", &r.Project}} {
		if s.Opt.Has(f.name) {
			*f.to = strings.TrimSpace(s.Opt.Text(f.name))
		}
		if utf8.RuneCountInString(*f.to) > titleMost || notify.HasControl(*f.to) {
			return problem.Of(problem.T("%s takes one line of %d characters at most", problem.Option(f.name), titleMost), problem.T("the long text is %s", problem.Option("description")))
		}
	}
	if s.Opt.Has("priority") {
		word, err := s.Cmd.Options.Named("priority").Choose(s.Opt.Text("priority"))
		if err != nil {
			return err
		}
		if r.Priority = word; word == state.PriorityMedium {
			r.Priority = "" // the default
		}
	}
	if s.Opt.Has("rpc-request") {
		r.Request = s.Opt.Bool("rpc-request")
	}
	return nil
}

// agentPolicy is the policy of a task that tells an agent from now on: somebody has to answer, and is asked more than once.
func agentPolicy(p *state.Policy) {
	if p.Timeout == "" {
		p.Timeout = agentTimeout
	}
	if p.Retries == 0 {
		p.Retries, p.Backoff = agentRetries, agentBackoff
	}
}

// noAgentPolicy takes agentPolicy back, as far as nobody has said otherwise.
func noAgentPolicy(p *state.Policy) {
	if p.Timeout == agentTimeout {
		p.Timeout = ""
	}
	if p.Retries == agentRetries && p.Backoff == agentBackoff {
		p.Retries, p.Backoff = 0, ""
	}
}

// noShell are words that only a shell would give a meaning.
var noShell = []string{"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "|&"}

// SplitWords takes a line apart as a shell would, without being one: quotes and backslashes count, and nothing else does. Words that a shell
// would do something by are refused, rather than handed to a program that does not expect them.
func SplitWords(line string) (words []string, err error) {
	var word strings.Builder
	in, quoted := false, false // a word; something of it is quoted
	end := func() error {
		if w := word.String(); in && !quoted && slices.Contains(noShell, w) {
			return problem.Of(problem.T("%s runs without a shell, and %s has no meaning", problem.Option("agent"), cli.Quote(w)), problem.T("name the shell: %s", problem.Set("agent", "sh -c '...'")))
		}
		if in {
			words = append(words, word.String())
		}
		word.Reset()
		in, quoted = false, false
		return nil
	}
	open := problem.Of(problem.T("%s %s has a quote that is not closed", problem.Option("agent"), cli.Quote(line)), problem.T("close it, as in %s", problem.Set("agent", "python3 'my agent.py'")))
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
				return nil, problem.Of(problem.T("%s %s ends with a backslash", problem.Option("agent"), cli.Quote(line)), problem.T(`leave it out, or write \\`))
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
