package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// liveShell is a shell as a person has it, on a terminal. Control-G writes the line as it then stands to a file and
// empties it, so that what TAB made of a line is known to the letter.
type liveShell struct {
	name  string
	start string // what starts it, after the folder with its start-up file is made
	file  string // its start-up file
	rc    string
	tabs  string // the keys that list what fits
	about string // how a task called tea is listed
	// expands says that the shell runs substitutions in the word at the cursor by itself, for every program, before it asks
	// for completions.
	expands bool
}

var liveShells = []liveShell{
	{
		name: "bash", start: "exec bash --rcfile $dir/.bashrc -i", file: ".bashrc", tabs: "\t\t", about: "(tea, in ",
		rc: `set -u
PS1='ready> '
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
note() { printf '%s|\n' "$READLINE_LINE" >>$dir/lines; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-g": note'
source <(ouro-timer completion bash)
`,
	},
	{
		name: "zsh", start: "exec env ZDOTDIR=$dir zsh -d -i", file: ".zshrc", tabs: "\t", about: "-- tea, in ", expands: true,
		rc: `setopt nounset
unsetopt beep
PS1='ready> '
autoload -Uz compinit && compinit -u -D
note() { print -r -- "$BUFFER|" >>$dir/lines; BUFFER=; zle -I; }
zle -N note
bindkey '^G' note
source <(ouro-timer completion zsh)
`,
	},
	{
		name: "fish", start: "exec env XDG_CONFIG_HOME=$dir XDG_DATA_HOME=$dir fish -C \"source $dir/rc.fish\" -i", file: "rc.fish", tabs: "\t", about: "tea, in ",
		rc: `set -g fish_greeting
function fish_prompt; echo -n 'ready> '; end
function note; commandline | string replace -r '$' '|' >>$dir/lines; commandline ''; end
bind \cg note
ouro-timer completion fish | source
`,
	},
}

// TestCompletionKeys presses TAB in each shell.
func TestCompletionKeys(t *testing.T) {
	clocktest.Alone(t)
	for _, shell := range liveShells {
		t.Run(shell.name, func(t *testing.T) {
			if _, err := exec.LookPath(shell.name); err != nil {
				t.Skip(shell.name + " is not installed")
			}
			pressKeys(t, shell)
		})
	}
}

func pressKeys(t *testing.T, shell liveShell) {
	dir, home := t.TempDir(), t.TempDir()+"/home"
	ids := sample(t, home, time.Now())
	for name, text := range map[string]string{shell.file: shell.rc, "file.txt": "", "two words.txt": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// fish makes this folder in the background when it is not there, perhaps while the test cleans up.
	if err := os.MkdirAll(filepath.Join(dir, "fish", "generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := tree(t, home)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each TAB otherwise, where races are looked for
	s := onTerminal(t, fmt.Sprintf("export dir=%s OURO_HOME=%s SHELL=/bin/sh; cd $dir; %s", cli.ShellQuote(dir), cli.ShellQuote(home), shell.start))
	s.see("ready> ")
	noted := 0
	press := func(keys string) string {
		t.Helper()
		if _, err := s.keys.WriteString(keys + "\a"); err != nil {
			t.Fatal(err)
		}
		noted++
		for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			b, _ := os.ReadFile(filepath.Join(dir, "lines"))
			if lines := strings.Split(string(b), "|\n"); len(lines) > noted {
				return lines[noted-1]
			}
		}
		t.Fatalf("%q: the line never came: %q", keys, s.sent())
		return ""
	}

	program, err := exec.LookPath("ouro-timer")
	if err != nil {
		t.Fatal(err)
	}
	tea := ids["TEA"]
	for _, tt := range []struct{ typed, want string }{
		{"ouro-timer resto", "ouro-timer restore "},
		{"ouro-timer rm " + tea[:3], "ouro-timer rm " + tea + " "},
		{"ouro-timer show '" + tea[:3], "ouro-timer show '" + tea + "' "},
		{`ouro-timer log "` + tea[:3], `ouro-timer log "` + tea + `" `},
		{"ouro-timer restore ", "ouro-timer restore " + ids["GONE"] + " "},
		{"ouro-timer rm --match x", "ouro-timer rm --match x"},
		{"ouro-timer health-wait tcp://localhost:80 --ti", "ouro-timer health-wait tcp://localhost:80 --timeout "},
		{"ouro-timer at --tz=Europe/Wars", "ouro-timer at --tz=Europe/Warsaw "},
		{"ouro-timer at --description 'a:b = c' --tz Europe/Wars", "ouro-timer at --description 'a:b = c' --tz Europe/Warsaw "},
		{"ouro-timer at -f fil", "ouro-timer at -f file.txt "},
		{"ouro-timer at -f tw", `ouro-timer at -f two\ words.txt `},
		{"ouro-timer at now -- touch fil", "ouro-timer at now -- touch file.txt "},
		{"ouro-timer at now -- ouro-timer resto", "ouro-timer at now -- ouro-timer restore "},
		{"ouro-timer at @hou", "ouro-timer at @hourly "},
		{program + " resto", program + " restore "},
		{"true; ouro-timer resto", "true; ouro-timer restore "},

		// Nothing that is typed is done. The same word further left was evaluated by many a completion script.
		{"ouro-timer rm $(touch pwned) " + tea[:3], "ouro-timer rm $(touch pwned) " + tea + " "},
		{`ouro-timer rm "$(touch pwned)" ` + tea[:3], `ouro-timer rm "$(touch pwned)" ` + tea + " "},
		{"ouro-timer at $(touch pwned) -- touch $(touch pwned) fil", "ouro-timer at $(touch pwned) -- touch $(touch pwned) file.txt "},
		{"ouro-timer at now -- touch pwned", "ouro-timer at now -- touch pwned"},
		{"ouro-timer run --once ", "ouro-timer run --once "},
	} {
		if got := press(tt.typed + "\t"); got != tt.want {
			t.Errorf("%s made %q of %q, want %q", shell.name, got, tt.typed, tt.want)
		}
	}
	if !shell.expands {
		press("ouro-timer rm $(touch pwned)\t")
		press("ouro-timer at now -- $(touch pwned)\t")
	}
	if shell.name != "fish" { // where a backquote quotes nothing
		press("ouro-timer rm `touch pwned` " + tea[:3] + "\t")
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); !os.IsNotExist(err) {
		t.Errorf("something typed was done: %v", err)
	}
	if _, err := s.keys.WriteString("ouro-timer rm " + shell.tabs); err != nil {
		t.Fatal(err)
	}
	s.see(shell.about)
	if after := tree(t, home); after != before {
		t.Errorf("the state was\n%s\nand is\n%s", before, after)
	}
}
