// Package guide has the commands about the commands themselves (help, guide, completion, version),
// and the tools of MCP.
package guide

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schema"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// guidePage is the page for agents. The exit codes and error codes are filled in.
//
//go:embed guide.md
var guidePage string

// skillFrontMatter turns the page into a skill, because it tells an agent when to read the page.
const skillFrontMatter = `---
name: ouro-timer
description: Wait, schedule and be woken from a shell, with the ouro-timer command. Use when something has to happen later or again and again, when a wait is longer than one tool call may last, when a service has to come up before going on, or when work is to be resumed after this session ends. Not for a pause of a few seconds.
---

`

// GuideCommand is the command guide.
func GuideCommand() cli.Command {
	return cli.Command{
		Name: "guide", Args: "[--json <command>... | --skill --write [<program or path>...]]",
		Short: "print the page for agents: when to use what, with real answers",
		Long: `
Prints how a program, or an agent that calls tools, uses ouro-timer: the contract, the commands that matter with their
answers, exit codes, and what to do about long waits and failures that pass.

--skill prints the same as a SKILL.md, for the folder where your agent looks for skills. With --write it saves the file
where claude (Claude Code), codex, gemini, cursor or vscode looks for your own skills, or at a path. Without a name or a path
it saves it for each of those programs that has a folder here. It never overwrites another skill.
--json prints everything, made from the program itself: each command with its arguments, options, defaults and
environment, all exit codes and error codes, and the JSON Schema of each answer. With names of commands it prints what
calling those needs; --json=full adds the rest about them, and --schema prints the schema of one answer.`,
		Examples: []string{
			"ouro-timer guide",
			"ouro-timer guide --skill --write claude",
			"ouro-timer guide --json at inbox",
		},
		Arguments: []option.Argument{{Name: "command", Kind: option.Word, Many: true}},
		Options: option.Rows{
			option.Option{Name: "skill", Kind: option.Flag,
				Help: "print the page as a SKILL.md, which says when to read it"},
			option.Option{Name: "schema", Kind: option.Name, Help: "print the JSON Schema of the answer NAME"},
			writeFlag("with --skill: save it where programs look for it, and print where that is"),
			cli.DryFlag, cli.QuietFlag.WithHelp("with --write: print nothing but errors"), cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{{Name: "guide", Of: guideJSON{},
			Means: "the whole command line: commands, options, codes, and the schemas of all answers"}, installShape},
		InAnyEnvironment: true,
		Brief:            true,
		Run:              func(_ context.Context, s *cli.Call) error { return runGuide(s) },
	}
}

func runGuide(s *cli.Call) error {
	skill, write := s.Opt.Bool("skill"), s.Opt.Bool("write")
	switch {
	case s.Opt.Has("schema"):
		return runSchema(s, s.Opt.Text("schema"))
	case write && !skill:
		return cli.NeedsOption("write", problem.Set("skill", true))
	case skill && write:
		return writeSkill(s, skillFrontMatter+GuideText())
	case s.DryRun:
		return problem.Of(problem.T("%s is for calls that change something, and this one does not",
			problem.Option("dry-run")), problem.T("leave it out"))
	case s.InJSON && skill:
		return cli.Excluding("skill", "json")
	case !s.InJSON && len(s.Args) > 0:
		if _, err := commandsNamed(s.Table, s.Args); err != nil {
			return err
		}
		return problem.Of(problem.T("the page covers all commands, and cannot be limited to %s", cli.Quote(s.Args[0])),
			problem.T("%s, or %s", problem.To(s.Args[0]).With("help", true),
				problem.To("guide", s.Args[0]).With("json", true)))
	}
	if s.InJSON {
		cmds := s.Table.All()
		if len(s.Args) > 0 {
			var err error
			if cmds, err = commandsNamed(s.Table, s.Args); err != nil {
				return err
			}
		}
		answer, err := guide(s, cmds, len(s.Args) > 0)
		if err != nil {
			return err
		}
		s.Emit(answer)
		return nil
	}
	text := GuideText()
	if skill {
		text = skillFrontMatter + text
	}
	s.Line("%s", strings.TrimSuffix(text, "\n"))
	return nil
}

// commandsNamed returns the commands with these names.
func commandsNamed(all cli.Table, names []string) (list []cli.Command, err error) {
	for _, name := range names {
		c := all.Find(name)
		if c == nil || c.Hidden {
			return nil, UnknownCommand(name, all)
		}
		list = append(list, *c)
	}
	return list, nil
}

// GuideText is the page, with the codes and the quota filled in.
func GuideText() string {
	var codes, numbers, signals []string
	for _, e := range cli.ExitCodes {
		if _, by, is := strings.Cut(e.Means, "ended by "); is {
			numbers, signals = append(numbers, strconv.Itoa(e.Code)),
				append(signals, strings.TrimSuffix(by, ", as the shell tells it"))
			continue
		}
		text := fmt.Sprintf("%d %s", e.Code, e.Means)
		var of []string
		for _, p := range problem.Codes {
			if p.Exit == e.Code {
				of = append(of, string(p.Code))
			}
		}
		if of != nil {
			text += " (" + strings.Join(of, ", ") + ")"
		}
		codes = append(codes, text)
	}
	codes = append(codes, fmt.Sprintf("%s ended by %s", strings.Join(numbers, ", "), strings.Join(signals, ", ")))
	return strings.NewReplacer(
		"{{codes}}", strings.Join(wrap(strings.Join(codes, " · ")+". The list is closed.", 140), "\n"),
		"{{lineage}}", fmt.Sprintf("%d may wait, %d be made within an hour, %s lie between two of a recurrence",
			cli.LineagePending, cli.LineagePerHour, tasks.LineageMinInterval),
	).Replace(guidePage)
}

// runSchema prints the schema of an answer.
func runSchema(s *cli.Call, name string) error {
	var names []string
	for _, a := range EveryAnswer(s.Table.All()) {
		if a.Name == name {
			page, err := schema.Page(a.Name, a.Means, a.Of)
			if err != nil {
				return err
			}
			if s.InJSON { // on one line
				var line bytes.Buffer
				if err := json.Compact(&line, page); err != nil {
					return err
				}
				page = append(line.Bytes(), '\n')
			}
			_, _ = s.Stdout.Write(page)
			return nil
		}
		names = append(names, a.Name)
	}
	hint := problem.T("they are %s", strings.Join(names, ", "))
	if near := problem.Nearest(name, names); near != "" {
		hint = problem.T("did you mean %s?", near)
	}
	return problem.Of(problem.T("no answer has the schema %s", cli.Quote(name)), hint)
}
