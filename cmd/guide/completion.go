package guide

import (
	"context"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/completions"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// CompletionCommand is the command completion.
func CompletionCommand() cli.Command {
	return cli.Command{
		Name: "completion", Args: "{" + strings.Join(completions.Shells(), " | ") + "}",
		Short: "print the script with which a shell completes calls on TAB",
		Long: `
The script completes commands, flags, time zones, file names, and the IDs of tasks with what they do. After -- the shell
completes the command there as it would on its own. Load the script in the start-up file of the shell:

  bash         source <(ouro-timer completion bash)                                 in ~/.bashrc
               (bash 3.2, as on macOS: eval "$(ouro-timer completion bash)")
  zsh          source <(ouro-timer completion zsh)                                  in ~/.zshrc, after compinit
  fish         ouro-timer completion fish | source                                  in ~/.config/fish/config.fish
  powershell   ouro-timer completion powershell | Out-String | Invoke-Expression    in $PROFILE

On TAB the shell asks ouro-timer what could follow. That runs no action, changes nothing and never evaluates what is typed.`,
		Examples:  []string{"source <(ouro-timer completion bash)", "ouro-timer completion fish | source"},
		Arguments: []option.Argument{{Name: "word", Kind: option.Word, Required: true, Choices: completions.Shells()}},
		Options:   option.Rows{cli.QuietFlag.WithHelp("print the answer alone"), cli.JSONFlag, cli.FieldsFlag},
		Answers:   []cli.Shape{{Name: "completion", Of: completionJSON{}, Means: "the script"}},
		Brief:     true,
		Run:       func(_ context.Context, s *cli.Call) error { return runCompletion(s) },
	}
}

// completionJSON is the answer of completion.
type completionJSON struct {
	Now    time.Time `json:"now"`
	Shell  string    `json:"shell"`
	Script string    `json:"script"`
}

// Text writes the script.
func (a completionJSON) Text(o *cli.Out) { o.Line("%s", strings.TrimSuffix(a.Script, "\n")) }

func runCompletion(s *cli.Call) error {
	oneOf := problem.T("name one of %s", strings.Join(completions.Shells(), ", "))
	switch len(s.Args) {
	case 0:
		return problem.Of(problem.T("completion needs the name of a shell"), oneOf)
	case 1:
	default:
		return problem.Of(problem.T("completion takes one shell, but was also given %s", cli.Quote(s.Args[1])), oneOf)
	}
	script, ok := completions.Script(s.Args[0])
	if !ok {
		return problem.Of(problem.T("there is no completion for %s", cli.Quote(s.Args[0])), oneOf)
	}
	s.Answer(completionJSON{s.Stamp(), s.Args[0], script})
	return nil
}
