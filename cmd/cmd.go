// Package cmd is the command line: words in, words out, an exit code. Standard output is the answer and nothing else,
// standard error is the talk. Nothing below it reads flags, the environment or the process's streams.
package cmd

import (
	"bufio"
	"context"
	"errors"
	"slices"

	// flags, environment and the table of commands; asked for by the user

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// table is every command, in the order the help shows them.
func table() []command {
	return []command{
		waitCommand(), atCommand(), lsCommand(), showCommand(), logCommand(), rmCommand(), restoreCommand(), editCommand(),
		pauseCommand(), resumeCommand(), fireCommand(), stopCommand(), inboxCommand(), ackCommand(),
		runCommand(), serviceCommand(), healthWaitCommand(), notifyCommand(), whenCommand(), simulateCommand(), doctorCommand(),
		mcpCommand(), guideCommand(), completionCommand(), versionCommand(), completeCommand(), desktopCommand(),
	}
}

// Main runs the program and returns its exit code. args[0] is the program's name.
func Main(args []string, w World) int {
	cmds := table()
	w = w.settled()
	s := &session{World: w, table: cmds, inJSON: asksJSON(args), stdout: bufio.NewWriterSize(w.Out, 32<<10), hangup: &hangup{}}
	if len(args) > 0 {
		s.called = args[0]
	}
	err := dispatch(s, args, cmds)
	proc.AbandonStarts()
	code := conclude(s, err)
	var sig *signalled
	if errors.As(err, &sig) {
		w.Raise(sig.signal)
		return 128 + int(sig.number())
	}
	return code
}

// dispatch finds the command, puts its words in order and runs it until it has ended, or a signal ends it.
func dispatch(s *session, args []string, cmds []command) error {
	return dispatchIn(s, args, cmds, func() (context.Context, func()) { return withSignals(context.Background(), s.heed) })
}

// dispatchIn is dispatch in the context that begin makes once a command is known to run.
func dispatchIn(s *session, args []string, cmds []command, begin func() (context.Context, func())) error {
	words := leading(args[min(1, len(args)):])
	if len(words) == 0 {
		return help(s, nil, cmds)
	}
	switch words[0] {
	case "-h", "--help", "help":
		if names := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return w == "--json" }); len(names) > 0 {
			c := find(cmds, names[0])
			if c == nil {
				return unknownCommand(names[0], cmds)
			}
			return help(s, c, cmds)
		}
		return help(s, nil, cmds)
	case "-v", "--version":
		words[0] = "version"
	}
	c := find(cmds, words[0])
	if c == nil {
		if err := timeFirst(words, s.Clock.Now(), cmds); err != nil {
			return err
		}
		return unknownCommand(words[0], cmds)
	}
	s.cmd = c
	line, err := c.syntax().Words(words[1:])
	if err != nil && c.hidden {
		return nil // a shell asked, at every TAB: nothing to offer is the whole answer
	}
	if err != nil {
		return err
	}
	if line.Help {
		return help(s, c, cmds)
	}
	ctx, stop := begin()
	defer stop()
	err = perform(ctx, s, line)
	if sig := caught(ctx); sig != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return sig
	}
	return err
}

// leading puts flags that every command has behind the command when they stand before it.
func leading(words []string) []string {
	n := 0
	for n < len(words) && (words[n] == "--json" || words[n] == "-q" || words[n] == "--quiet") {
		n++
	}
	if n == 0 || n == len(words) {
		return words
	}
	return append(append([]string{words[n]}, words[:n]...), words[n+1:]...)
}

// asksJSON looks for --json where a flag may stand, so that errors in the arguments are told in the form asked for.
func asksJSON(args []string) bool {
	for _, a := range args[min(1, len(args)):] {
		if a == "--" {
			return false
		}
		if a == "--json" || a == "-json" || a == "--json=true" {
			return true
		}
	}
	return false
}
