package guide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Overview is the help of the program above its commands, and Epilogue what stands below them.
const Overview = `Usage: ouro-timer <command> [<args>...] [--json]

Waits, schedules and runs: understands "tomorrow at 9am", remembers across crashes, runs what is due exactly once.

  ouro-timer wait 3s check the oven                 wait, then print it
  ouro-timer at tomorrow 10am -- make backup        run a command later; nothing to set up
  ouro-timer at in 20 minutes --task "call Bob"     a reminder on this terminal
  ouro-timer at every weekday at 9am -- fetch-news  again and again
  ouro-timer ls                                     what is to come
`

const Epilogue = `
A time is a duration (90s, 2h30m, "an hour and a half"), an instant (10pm, "next Friday at noon", 2030-12-24T18:00,
"now + 5 minutes") or a recurrence (every 5m, "every weekday at 9am", "0 9 * * 1-5", @daily, FREQ=DAILY;BYHOUR=18).
  ouro-timer when "next Friday at noon"             how one is read

Exit codes: 0 done, 1 failed, 2 usage or a time that is not understood or past, 3 no such task, 4 state busy or unusable,
75 the bound of --max or OURO_MAX was reached: call again, 124 timed out; 129, 130, 131, 143: ended by HUP, INT, QUIT, TERM.

State is kept in ~/.ouro (OURO_HOME moves it).

  ouro-timer <command> --help                       more on a command
  ouro-timer help --man <command> | man -l -        its manual page
`

// Help prints the help of a command, or of the program when c is nil. With --json it prints the
// answer of guide.
func Help(s *cli.Call, c *cli.Command) error {
	if s.InJSON && (c == nil || !c.Hidden) {
		var cmds []cli.Command
		if c != nil {
			cmds = []cli.Command{*c}
		} else {
			cmds = s.Table.All()
		}
		answer, err := guide(s, cmds, c != nil)
		if err == nil {
			s.Emit(answer)
		}
		return err
	}
	width := helpWidth(s)
	if c == nil {
		var b strings.Builder
		b.WriteString(Overview + "\nCommands:\n")
		for _, c := range s.Table.All() {
			if !c.Hidden {
				fmt.Fprintf(&b, "  %-12s %s\n", c.Name, c.Short)
			}
		}
		b.WriteString(Epilogue)
		_, err := fmt.Fprint(s.Stdout, layOut(b.String(), width))
		return err
	}
	var b strings.Builder
	usage := "Usage: ouro-timer " + strings.TrimSpace(c.Name+" "+c.Args)
	if width > 0 {
		const indent = "       " // aligned with the text after "Usage: "
		usage = strings.Join(wrap(usage, width-len(indent)), "\n"+indent)
	}
	fmt.Fprintf(&b, "%s\n\n%s\n", usage, layOut(sentence(c.Short), width))
	if c.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", layOut(strings.Trim(c.Long, "\n"), width))
	}
	if options := c.Options.Shown(); len(options) > 0 {
		b.WriteString(optionHelp(options, cmp.Or(width, 110)))
	}
	if len(c.Examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, e := range c.Examples {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	_, err := fmt.Fprint(s.Stdout, b.String())
	return err
}

// GroupsOf returns the groups of options in the order of their first option. Options without a
// group come last.
func GroupsOf(options option.Rows) (groups []string) {
	for _, o := range options {
		if o.Group != "" && !slices.Contains(groups, o.Group) {
			groups = append(groups, o.Group)
		}
	}
	return append(groups, "")
}

// optionHelp lists options by group, at most width columns wide.
func optionHelp(options option.Rows, width int) string {
	widest := 0
	for _, o := range options {
		if n := len(OptionNames(o)); n <= 24 {
			widest = max(widest, n)
		}
	}
	var b strings.Builder
	groups := GroupsOf(options)
	for _, group := range groups {
		switch {
		case group != "":
			fmt.Fprintf(&b, "\n%s:\n", group)
		case len(groups) > 1:
			b.WriteString("\nThe call:\n")
		default:
			b.WriteString("\nOptions:\n")
		}
		for _, o := range options {
			if o.Group != group {
				continue
			}
			text, name := wrap(o.Usage(), width-widest-4), OptionNames(o)
			if len(name) > widest {
				fmt.Fprintf(&b, "  %s\n  %*s", name, widest, "")
			} else {
				fmt.Fprintf(&b, "  %-*s", widest, name)
			}
			fmt.Fprintf(&b, "  %s\n", strings.Join(text, "\n"+strings.Repeat(" ", widest+4)))
		}
	}
	return b.String()
}

// sentence makes a sentence of a short description.
func sentence(short string) string {
	return strings.ToUpper(short[:1]) + short[1:] + "."
}

// OptionNames is an option as it is written: "-n, --count N".
func OptionNames(o option.Option) string {
	short, long := dashed(o)
	return strings.TrimSpace(strings.Join(append(short, long...), ", ") + " " + o.ValueName())
}

// dashed returns the names of an option as they are written: letters, and others.
func dashed(o option.Option) (short, long []string) {
	for _, name := range o.Names() {
		if written := (problem.Shell{}).Option(name); len(name) == 1 {
			short = append(short, written)
		} else {
			long = append(long, written)
		}
	}
	return short, long
}

// wrap breaks text into lines of at most width columns.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		switch {
		case line == "":
			line = w
		case cli.Columns(line)+1+cli.Columns(w) <= width:
			line += " " + w
		default:
			lines = append(lines, line)
			line = w
		}
	}
	return append(lines, line)
}

// helpWidth is how wide the help is: as wide as the terminal, but from 60 to 100 columns. It is 0
// without a terminal, and then lines stay as they are.
func helpWidth(s *cli.Call) int {
	if width, terminal := s.Width(); terminal {
		return min(max(width, 60), 100)
	}
	return 0
}

// layOut wraps a text to at most width columns; 0 means as it is. It wraps a paragraph as a whole
// if one of its lines is too long. An indented line is wrapped by layOutRow.
func layOut(text string, width int) string {
	if width == 0 {
		return text
	}
	var lines, paragraph []string
	fill := func() {
		if slices.ContainsFunc(paragraph, func(line string) bool { return cli.Columns(line) > width }) {
			paragraph = wrap(strings.Join(paragraph, " "), width)
		}
		lines, paragraph = append(lines, paragraph...), nil
	}
	for _, line := range strings.Split(text, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		fill()
		lines = append(lines, layOutRow(line, width)...)
	}
	fill()
	return strings.Join(lines, "\n")
}

// layOutRow wraps an indented line. The part before its last gap of two blanks may be a command,
// and is not broken. The text after the gap continues below its own beginning, or on a line of its
// own if there is no room.
func layOutRow(line string, width int) []string {
	if cli.Columns(line) <= width {
		return []string{line}
	}
	gap := strings.LastIndex(line, "  ")
	if strings.TrimSpace(line[:gap]) == "" {
		return []string{line}
	}
	head, tail := strings.TrimRight(line[:gap], " "), line[gap+2:]
	if at := cli.Columns(line[:gap+2]); at <= width/2 {
		indent := strings.Repeat(" ", at)
		rows := wrap(tail, width-at)
		return strings.Split(line[:gap+2]+strings.Join(rows, "\n"+indent), "\n")
	}
	const indent = "      "
	return append([]string{head}, strings.Split(indent+strings.Join(wrap(tail, width-len(indent)),
		"\n"+indent), "\n")...)
}
