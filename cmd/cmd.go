// Package cmd is the command line: the table of commands, signals and exit codes. Standard output
// has only the answer, and standard error the messages. The packages below this one have the
// commands.
package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/daemon"
	"github.com/ouro-timer/ouro-timer/cmd/fleet"
	"github.com/ouro-timer/ouro-timer/cmd/guide"
	"github.com/ouro-timer/ouro-timer/cmd/healthwait"
	"github.com/ouro-timer/ouro-timer/cmd/history"
	"github.com/ouro-timer/ouro-timer/cmd/manage"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/cmd/simulate"
	"github.com/ouro-timer/ouro-timer/cmd/tell"
	"github.com/ouro-timer/ouro-timer/cmd/top"
	"github.com/ouro-timer/ouro-timer/cmd/transfer"
	"github.com/ouro-timer/ouro-timer/cmd/waiting"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// table has every command, in the order of the help.
var table = cli.Table{
	{Name: "wait", Make: waiting.WaitCommand},
	{Name: "at", Make: schedule.AtCommand},
	{Name: "ls", Make: manage.LsCommand},
	{Name: "show", Make: manage.ShowCommand},
	{Name: "log", Make: history.LogCommand},
	{Name: "rm", Make: manage.RmCommand},
	{Name: "restore", Make: manage.RestoreCommand},
	{Name: "edit", Make: schedule.EditCommand},
	{Name: "pause", Make: manage.PauseCommand},
	{Name: "resume", Make: manage.ResumeCommand},
	{Name: "fire", Make: manage.FireCommand},
	{Name: "stop", Make: manage.StopCommand},
	{Name: "top", Make: top.Command},
	{Name: "inbox", Make: history.InboxCommand},
	{Name: "ack", Make: history.AckCommand},
	{Name: "run", Make: daemon.RunCommand},
	{Name: "service", Make: daemon.ServiceCommand},
	{Name: "health-wait", Make: healthwait.Command},
	{Name: "notify", Make: tell.NotifyCommand},
	{Name: "when", Make: schedule.WhenCommand},
	{Name: "simulate", Make: simulate.Command},
	{Name: "import", Make: transfer.ImportCommand},
	{Name: "export", Make: transfer.ExportCommand},
	{Name: "apply", Make: transfer.ApplyCommand},
	{Name: "doctor", Make: daemon.DoctorCommand},
	{Name: "fleet", Make: fleet.Command},
	{Name: "agent", Make: fleet.AgentCommand},
	{Name: "metrics", Make: daemon.MetricsCommand},
	{Name: "mcp", Make: guide.MCPCommand},
	{Name: "guide", Make: guide.GuideCommand},
	{Name: "completion", Make: guide.CompletionCommand},
	{Name: "version", Make: guide.VersionCommand},
	{Name: "__complete", Make: guide.CompleteCommand},
	{Name: "_desktop", Make: tell.DesktopCommand},
}

// Main runs the program and returns its exit code. args[0] is the program's name.
func Main(args []string, w cli.World) int {
	w = w.WithAbsoluteHome()
	s := cli.NewCall(w)
	s.Table, s.InJSON, s.Hangup = table, asksJSON(args), &cli.Hangup{}
	if len(args) > 0 {
		s.Called = args[0]
	}
	err := dispatch(s, args, listen)
	proc.AbandonStarts()
	code := cli.Conclude(s, err)
	if sig, ok := errors.AsType[*cli.Signalled](err); ok {
		w.Raise(sig.Signal)
		return 128 + int(sig.Number())
	}
	return code
}

// listen returns the context in which the command of a call runs, which signals end.
func listen(s *cli.Call) (context.Context, func()) {
	if s.Cmd.Brief {
		return cli.WithSignalsOnceAwaited(context.Background(), s.HandleSignal)
	}
	return cli.WithSignals(context.Background(), s.HandleSignal)
}

// dispatch finds the command, reads its words and runs it in the context of begin, until it has
// ended or a signal ends it.
func dispatch(s *cli.Call, args []string, begin func(*cli.Call) (context.Context, func())) error {
	words := commandFirst(args[min(1, len(args)):])
	if len(words) == 0 {
		return guide.Help(s, nil)
	}
	switch words[0] {
	case "-h", "--help", "help":
		request, err := guide.ReadHelp(words[1:])
		switch {
		case err != nil:
			return err
		case request.Manual:
			return guide.Manual(s, request.Command)
		case request.Command == "":
			return guide.Help(s, nil)
		}
		if c := s.Table.Find(request.Command); c != nil {
			return guide.Help(s, c)
		}
		return guide.UnknownCommand(request.Command, s.Table)
	case "-v", "--version":
		words[0] = "version"
	}
	c := s.Table.Find(words[0])
	if c == nil {
		if err := guide.TimeFirst(words, s.Clock.Now(), s.Table); err != nil {
			return err
		}
		return guide.UnknownCommand(words[0], s.Table)
	}
	s.Cmd = c
	line, err := c.Syntax().Words(words[1:])
	if err != nil && c.Hidden {
		return nil // a shell completes at every TAB, and shows no errors
	}
	if err != nil {
		return err
	}
	if line.Help {
		return guide.Help(s, c)
	}
	ctx, stop := begin(s)
	defer stop()
	err = cli.Perform(ctx, s, line)
	if sig := cli.Caught(ctx); sig != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return sig
	}
	return err
}

// commandFirst moves the common options before the command to after it.
func commandFirst(words []string) []string {
	n := 0
	for n < len(words) && (words[n] == "--json" || words[n] == "--json=full" || words[n] == "-q" ||
		words[n] == "--quiet") {
		n++
	}
	if n == 0 || n == len(words) {
		return words
	}
	return append(append([]string{words[n]}, words[:n]...), words[n+1:]...)
}

// asksJSON reports whether the words ask for JSON, so that errors in the words themselves are
// written as JSON, too.
func asksJSON(args []string) bool {
	for _, a := range args[min(1, len(args)):] {
		if a == "--" {
			return false
		}
		if a == "--json" || a == "-json" || a == "--json=true" || a == "--json=full" || a == "--fields" ||
			strings.HasPrefix(a, "--fields=") {
			return true
		}
	}
	return false
}
