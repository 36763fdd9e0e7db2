package guide

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/client"
	"github.com/ouro-timer/ouro-timer/cmd/mcp"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schema"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// MCPCommand is the command mcp.
func MCPCommand() cli.Command {
	return cli.Command{
		Name: "mcp", Args: "[{install | uninstall} [<program>...]]",
		Short: "serve the tools of MCP to a program that a model works in",
		Long: `
Speaks the Model Context Protocol on standard input and output, until the input ends. A program that a model works in starts
it by itself, once it is configured. The usual entry in such a program's file (docs/mcp.md has those of several programs):

  {"mcpServers": {"ouro-timer": {"command": "ouro-timer", "args": ["mcp"]}}}

install shows the entry, and its place in your own configuration of claude (Claude Code), codex, gemini, cursor or vscode.
With --write it adds the entry, and keeps the rest of the file byte for byte. Without a name it does so for each of those
programs that has a folder here. It keeps an entry that is there already; uninstall removes it.

The tools are wait, schedule_task, list_tasks, cancel_task, edit_task, explain_time, task_log, inbox, wait_for_health and
notify. Each calls a command of this program with --json, and answers with the command's answer, with an error in place of
an exit code. ouro://tasks and ouro://inbox are resources that can be subscribed to.

A tool that waits does so for 50 seconds at most, as many programs give up after a minute, and answers how to continue.
--max changes that for a program that waits longer.`,
		Examples: []string{"ouro-timer mcp", "ouro-timer mcp install", "ouro-timer mcp install claude --write",
			"ouro-timer mcp uninstall codex --write", "ouro-timer mcp --max 9m"},
		Arguments: []option.Argument{
			{Name: "word", Kind: option.Word, Choices: []string{"install", "uninstall"}},
			{Name: "program", Kind: option.Word, Many: true, Choices: client.Names()},
		},
		Answers: []cli.Shape{installShape},
		Options: option.Rows{
			writeFlag("of install and uninstall: make the change that is shown"),
			cli.DryFlag, cli.QuietFlag.WithHelp("of install and uninstall: print nothing but errors"), cli.JSONFlag,
			cli.FieldsFlag,
			option.Option{Name: "max", Kind: option.Duration, Env: "OURO_MAX", Default: cli.SpanText(mcpMost),
				Help: "let a call of a tool wait for at most DURATION, or OURO_MAX"},
		},
		Run: runMCP,
	}
}

// mcpMost is how long a tool waits unless --max says otherwise. The shortest timeout of the usual
// clients is 60 s.
const mcpMost = 50 * time.Second

func runMCP(ctx context.Context, s *cli.Call) error {
	if len(s.Args) > 0 {
		return runInstall(s)
	}
	for _, name := range []problem.Option{"write", "dry-run", "quiet", "json", "fields"} {
		if s.Opt.Has(string(name)) {
			return problem.Of(problem.T("%s is for install and uninstall, and this is the server", name),
				problem.T("leave it out, or %s", problem.To("mcp", "install")))
		}
	}
	most, err := cli.Bound(s)
	if err != nil {
		return err
	}
	if most == 0 {
		most = mcpMost
	}
	if cli.IsTerminal(s.In) {
		s.Note("This server speaks MCP with a program, not with people; %s mcp --help says how to configure one. "+
			"Ctrl-D ends it.", s.Program())
	}
	called := cmp.Or(s.Called, "ouro-timer")
	return mcp.Serve(ctx, mcp.Options{
		In: s.In, Out: s.World.Out, Version: cli.Version, Program: s.Program(), BlockMost: most,
		Call:   func(ctx context.Context, r mcp.Request) mcp.Answer { return answerCall(ctx, s, called, most, r) },
		Refuse: func(p *problem.Problem) []byte { return refusedCall(s, p) },
		Crashed: func(what any, stack []byte) []byte {
			fmt.Fprintf(s.Err, "ouro-timer: a call of a tool crashed: %v\n%s", what, stack)
			return refusedCall(s, problem.New(problem.Failed, problem.T(fmt.Sprint("this is a bug: ", what)),
				problem.T("call it in another way")))
		},
		Rows: func(name string) option.Rows { return s.Table.Find(name).Options },
		Schema: func(answers, shows []string, call bool) (json.RawMessage, error) {
			return mcpSchema(s.Table.All(), answers, shows, call)
		},
		Watch: func(ctx context.Context, uri string) (<-chan struct{}, error) {
			st, err := openAgain(s)
			switch {
			case err != nil:
				return nil, err
			case uri == mcp.InboxURI:
				return st.WatchMail(ctx)
			}
			queue, err := st.Follow(ctx)
			if err != nil {
				return nil, err
			}
			return queue.Changed(), nil
		},
		Zone: func() string {
			zone, err := s.Zone()
			if err != nil {
				return "an unknown zone"
			}
			return zone.String()
		},
	})
}

// openAgain opens the store once more for a watch, which keeps the state folder open.
func openAgain(s *cli.Call) (state.Store, error) {
	own := cli.NewCall(s.World)
	own.Cmd, own.InJSON = s.Cmd, true
	return own.Open()
}

// refusedCall is the answer of a call that was refused, in the form of a command's answer.
func refusedCall(s *cli.Call, f *problem.Problem) []byte {
	answer := cli.Encode(cli.FailedJSON{Now: s.Stamp(), Error: s.AsErrorJSON(f)})
	if len(answer) == 0 { // JSON has no form for the year
		answer = []byte("{}")
	}
	return answer
}

// mcpSchema is a brief schema of the answers of a tool. It has the fields that a model is likely to
// read, each with every type that it has in one of the answers. It requires only what all answers
// have, so that each of them, and each error, satisfies it. docs/schemas has the full schemas; this
// one is brief because models pay for each word of it.
func mcpSchema(cmds []cli.Command, names, shows []string, call bool) (json.RawMessage, error) {
	types := map[string][]string{"error": {"object"}}
	if call {
		types["call"] = []string{"object"}
	}
	all := EveryAnswer(cmds)
	for _, name := range names {
		i := slices.IndexFunc(all, func(a cli.Shape) bool { return a.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no answer is called %q", name)
		}
		full, err := schema.Of(all[i].Of)
		if err != nil {
			return nil, err
		}
		for _, field := range append([]string{"now"}, shows...) {
			if p := full.Properties[field]; p != nil {
				types[field] = append(types[field], p.Types...)
				if p.Type != "" {
					types[field] = append(types[field], p.Type)
				}
			}
		}
	}
	type brief struct {
		Type any `json:"type"`
	}
	fields := map[string]brief{}
	for field, of := range types {
		slices.Sort(of)
		if of = slices.Compact(of); len(of) == 1 {
			fields[field] = brief{of[0]}
		} else {
			fields[field] = brief{of}
		}
	}
	for _, field := range shows {
		if len(types[field]) == 0 {
			return nil, fmt.Errorf("none of the answers %q has a field %q of a known type", names, field)
		}
	}
	return json.Marshal(struct {
		Type       string           `json:"type"`
		Properties map[string]brief `json:"properties"`
		Required   []string         `json:"required"`
	}{"object", fields, []string{"now"}})
}
