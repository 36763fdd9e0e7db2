package cmd

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cpuguy83/go-md2man/v2/md2man"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/guide"
	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// manual is where the manual pages lie. go-md2man makes them of Markdown here, and not in the program: to link it costs every call of every
// command a hundred page faults.
const manual = "../docs/man"

// chapters are the manual pages that are pages of docs.
var chapters = []struct{ name, section, from, says string }{
	{"time", "7", "time.md", "how ouro-timer reads times"},
	{"config", "5", "config.md", "the configuration of ouro-timer"},
	{"state", "5", "state.md", "where ouro-timer keeps what it remembers"},
}

// exits says what an exit code means, for the manual.
var exits = map[int]string{
	cli.ExitOK:       "Done.",
	cli.ExitFailed:   "Failed.",
	cli.ExitUsage:    "The call is wrong, or a time is not understood, ambiguous or past.",
	cli.ExitNotFound: "There is no such task.",
	cli.ExitState:    "The state is busy or cannot be used.",
	cli.ExitMax:      "The bound of **--max** or OURO_MAX was reached: call again with what the answer says.",
	cli.ExitTimedOut: "Timed out.",
}

// variables are those of the environment that every command heeds.
var variables = [][2]string{
	{"OURO_HOME", "the folder of the state in the place of ~/.ouro"},
	{"OURO_TZ", "the time zone of times that name none"},
	{"OURO_MAX", "the most that a call may block, as **--max** says it"},
	{"OURO_AUTOSTART", "0: no runner is started in the background"},
	{"NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "whether there is colour on a terminal"},
}

// TestManual compares the manual pages with the table of commands and with docs, and writes them anew with -update.
func TestManual(t *testing.T) {
	pages := map[string]string{"ouro-timer.1": programPage()}
	for _, c := range table.All() {
		if !c.Hidden {
			pages["ouro-timer-"+c.Name+".1"] = commandPage(c)
		}
	}
	for _, c := range chapters {
		text, err := os.ReadFile(filepath.Join("../docs", c.from))
		if err != nil {
			t.Fatal(err)
		}
		pages["ouro-timer-"+c.name+"."+c.section] = chapterPage(c.name, c.section, c.says, string(text))
	}
	old, err := filepath.Glob(filepath.Join(manual, "*.[157]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if pages[filepath.Base(name)] != "" {
			continue
		}
		if !*update {
			t.Errorf("%s is the page of nothing: drop it by go test ./cmd -run TestManual -update", name)
		} else if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
	for name, text := range pages {
		path, want := filepath.Join(manual, name), filled(md2man.Render([]byte(text)))
		got, err := os.ReadFile(path)
		if err == nil && bytes.Equal(got, want) {
			continue
		}
		if !*update {
			t.Errorf("%s does not say what the help says: renew it by go test ./cmd -run TestManual -update", path)
		} else if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Error(err)
		}
	}
}

// filled breaks the lines of a page that are longer than 80 characters, where it is filled anyway, and ends none with a space: mandoc -T
// lint asks for that. It counts
// others than those of ASCII as they are written for roff: \[u00B7].
func filled(page []byte) []byte {
	var b strings.Builder
	shown := false // a block that is shown as it stands
	for line := range strings.Lines(string(page)) {
		switch strings.TrimSpace(line) {
		case ".EX":
			shown = true
		case ".EE":
			shown = false
		}
		if shown || strings.HasPrefix(line, ".") {
			b.WriteString(line)
			continue
		}
		var begun strings.Builder
		width := 0
		for _, word := range strings.SplitAfter(line, " ") {
			wide := len(word)
			for _, r := range word {
				if r >= utf8.RuneSelf {
					wide += len(`\[uFFFFF]`) - utf8.RuneLen(r)
				}
			}
			// What begins a line must not be a request of roff.
			if width > 0 && width+wide > 80 && !strings.ContainsAny(word[:1], " .'\n") {
				b.WriteString(strings.TrimRight(begun.String(), " ") + "\n")
				begun.Reset()
				width = 0
			}
			begun.WriteString(word)
			width += wide
		}
		b.WriteString(strings.TrimRight(begun.String(), " \n") + "\n")
	}
	return []byte(b.String())
}

// TestManualIsSound has man(1) and mandoc(1) read every page, where they are installed.
func TestManualIsSound(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(manual, "*.[157]"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, reader := range [][]string{{"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"}, {"mandoc", "-T", "lint"}} {
		if _, err := exec.LookPath(reader[0]); err != nil {
			continue
		}
		for _, page := range pages {
			cmd := exec.Command(reader[0], append(reader[1:], page)...)
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=100")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if said := errs.String(); reader[0] == "man" && (err != nil || said != "") {
				t.Errorf("%s %s: %v\n%s", reader[0], page, err, said)
			}
			if reader[0] == "mandoc" && (err != nil || out.Len() > 0) {
				t.Errorf("%s %s: %v\n%s", reader[0], page, err, out.String())
			}
		}
	}
}

// released is the day that the pages bear, the one of the release that they were made for.
const released = "2026-11-23"

// title begins a page.
func title(name, section string) string {
	return fmt.Sprintf("%% %s %s %q \"ouro-timer\" \"ouro-timer manual\"\n\n", strings.ToUpper(name), section, released)
}

// programPage is ouro-timer(1).
func programPage() string {
	var b strings.Builder
	b.WriteString(title("ouro-timer", "1"))
	b.WriteString("# NAME\n\nouro-timer - wait, schedule and run: exactly, once, and over crashes\n\n")
	b.WriteString("# SYNOPSIS\n\n**ouro-timer** *command* [*args*...] [**--json**]\n\n# DESCRIPTION\n\n")
	_, overview, _ := strings.Cut(guide.Overview, "\n\n") // without the line of use
	b.WriteString(paragraphs(overview))
	b.WriteString("\n# COMMANDS\n\n")
	var also []string
	for _, c := range table.All() {
		if !c.Hidden {
			fmt.Fprintf(&b, "**%s**\n: %s\n\n", c.Name, plainText(c.Short))
			also = append(also, fmt.Sprintf("**ouro-timer-%s**(1)", c.Name))
		}
	}
	b.WriteString("# TIMES\n\n" + paragraphs(guide.Epilogue) + "\n")
	b.WriteString(environment())
	b.WriteString("# FILES\n\n**~/.ouro/config.toml**\n: the configuration: **ouro-timer-config**(5)\n\n**~/.ouro/timers**, **~/.ouro/runs**\n: tasks, outputs, the ledger: **ouro-timer-state**(5)\n\n")
	for _, c := range chapters {
		also = append(also, fmt.Sprintf("**ouro-timer-%s**(%s)", c.name, c.section))
	}
	b.WriteString("# SEE ALSO\n\n" + strings.Join(also, ",\n") + ",\n**at**(1),\n**crontab**(5),\n**sleep**(1),\n**systemd-run**(1)\n")
	return b.String()
}

// commandPage is the page of a command.
func commandPage(c cli.Command) string {
	name := "ouro-timer-" + c.Name
	var b strings.Builder
	fmt.Fprintf(&b, "%s# NAME\n\n%s - %s\n\n# SYNOPSIS\n\n**ouro-timer %s** %s\n\n# DESCRIPTION\n\n", title(name, "1"), name, plainText(c.Short), c.Name, plainText(c.Args))
	b.WriteString(paragraphs(cmp.Or(c.Long, strings.ToUpper(c.Short[:1])+c.Short[1:]+".")))
	if options := c.Options.Shown(); len(options) > 0 {
		b.WriteString("\n# OPTIONS\n\n")
		groups := guide.GroupsOf(options)
		for _, group := range groups {
			if len(groups) > 1 {
				fmt.Fprintf(&b, "## %s\n\n", cmp.Or(plainText(group), "The call"))
			}
			for _, o := range options {
				if o.Group == group {
					fmt.Fprintf(&b, "%s\n: %s\n\n", optionTerm(o), plainText(o.Usage()))
				}
			}
		}
	}
	b.WriteString("# EXIT STATUS\n\n")
	for _, code := range cli.ExitsOf(c) {
		fmt.Fprintf(&b, "**%d**\n: %s\n\n", code, exits[code])
	}
	if c.Passes {
		b.WriteString("**other**\n: The exit code of the command that it ran.\n\n")
	}
	b.WriteString("**129**, **130**, **131**, **143**\n: Ended by the signal HUP, INT, QUIT or TERM.\n\n")
	if len(c.Examples) > 0 {
		b.WriteString("# EXAMPLES\n\n" + block(c.Examples) + "\n")
	}
	b.WriteString(environment())
	b.WriteString("# SEE ALSO\n\n**ouro-timer**(1),\n**ouro-timer-time**(7),\n**ouro-timer-config**(5)\n")
	return b.String()
}

// optionTerm is how an option is written: **-n**, **--count** *N*.
func optionTerm(o option.Option) string {
	names, value, _ := strings.Cut(guide.OptionNames(o), " ")
	for strings.HasSuffix(names, ",") {
		var more string
		more, value, _ = strings.Cut(value, " ")
		names += " " + more
	}
	term := "**" + strings.ReplaceAll(names, ", ", "**, **") + "**"
	if value != "" {
		term += " *" + plainText(value) + "*"
	}
	return term
}

func environment() string {
	var b strings.Builder
	b.WriteString("# ENVIRONMENT\n\n")
	for _, v := range variables {
		fmt.Fprintf(&b, "**%s**\n: %s\n\n", v[0], v[1])
	}
	return b.String()
}

// chapterPage makes a page of docs one of the manual: its first heading becomes the name.
func chapterPage(name, section, says, text string) string {
	_, text, _ = strings.Cut(text, "\n")
	var lines, heads []string
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if cells, ok := strings.CutPrefix(line, "| "); ok && !fenced {
			if row := strings.Split(strings.TrimSuffix(cells, " |"), " | "); heads == nil {
				heads = row
			} else {
				lines = append(lines, tableItem(heads, row), "")
			}
			continue
		}
		if strings.HasPrefix(line, "|--") && !fenced {
			continue
		}
		heads = nil
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			line = "```"
		}
		if head, ok := strings.CutPrefix(line, "## "); ok && !fenced {
			line = "# " + strings.ToUpper(head)
		} else if head, ok := strings.CutPrefix(line, "### "); ok && !fenced {
			line = "## " + head
		}
		lines = append(lines, line)
	}
	page := "ouro-timer-" + name
	return fmt.Sprintf("%s# NAME\n\n%s - %s\n\n# DESCRIPTION\n%s\n\n# SEE ALSO\n\n**ouro-timer**(1)\n", title(page, section), page, says, strings.Join(lines, "\n"))
}

// tableItem is a row of a table as an item: tables are wider than terminals.
func tableItem(heads, row []string) string {
	var text strings.Builder
	for i, cell := range row[1:] {
		cell = strings.TrimSpace(strings.Trim(cell, "|"))
		switch {
		case cell == "":
		case i+2 == len(row):
			text.WriteString(cell)
		default:
			fmt.Fprintf(&text, "%s: %s. ", heads[min(i+1, len(heads)-1)], cell)
		}
	}
	return strings.TrimSpace(strings.Trim(row[0], "|")) + "\n: " + text.String()
}

// paragraphs is a text of the help as Markdown: lines that are indented are shown as they are.
func paragraphs(text string) string {
	var b strings.Builder
	var shown []string
	flush := func() {
		if len(shown) > 0 {
			b.WriteString("\n" + block(shown) + "\n")
			shown = nil
		}
	}
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			shown = append(shown, strings.TrimPrefix(line, "  "))
			continue
		}
		flush()
		b.WriteString(plainText(line) + "\n")
	}
	flush()
	return b.String()
}

func block(lines []string) string { return "```\n" + strings.Join(lines, "\n") + "\n```\n" }

// plainText keeps Markdown from reading a text.
func plainText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>#|~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TestManualIsWhole: each command and each chapter has its page, by the name that help --man takes.
func TestManualIsWhole(t *testing.T) {
	want := []string{}
	for _, c := range table.All() {
		if !c.Hidden {
			want = append(want, c.Name)
		}
	}
	for _, c := range chapters {
		want = append(want, c.name)
	}
	slices.Sort(want)
	if got := guide.ManualNames(); !slices.Equal(got, want) {
		t.Errorf("pages are %v, want %v", got, want)
	}
}
