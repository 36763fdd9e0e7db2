package cmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// A block of a page is marked by the words behind its fence. What the tests do with each:
//
//	console         each line behind "$ " is run on a terminal, and says what stands below it; one below which nothing stands succeeds
//	sh              the whole is run by sh -e, and succeeds
//	console no-run  is not run, as notRun has it; what calls ouro-timer in it is tried as a dry run
//	sh no-run       the same
//	bash, zsh, fish are sh for another shell, where that is to be had
//	the others      are not calls: they have no prompt. toml NAME is written to that file
//
// The blocks of a page are run one after the other in one home and one folder, where the programs of standIns are. In what a page shows
// … stands for anything, on a line of its own for lines; a moment, how long something took, a process ID and an ID stand for any, and the
// same ID always for the same.
//
// A comment before a block prepares it, and is not shown: <!-- test: SHELL TEXT --> is run; <!-- test: THERE => HERE --> has what the
// page calls THERE be HERE from then on, which the shell expands.
type pageBlock struct {
	page  string
	line  int
	info  string
	tests []string
	lines []string
}

// shells are the words for what a shell runs as a whole.
var shells = []string{"sh", "bash", "zsh", "fish"}

// runs reports whether the tests do something with the block.
func (b pageBlock) runs() bool {
	return b.info == "console" || slices.Contains(shells, b.info) || b.file() != ""
}

// file is where the text of the block is written; empty for nowhere.
func (b pageBlock) file() string {
	kind, name, _ := strings.Cut(b.info, " ")
	if !slices.Contains(notCalls, kind) {
		return ""
	}
	return name
}

func (b pageBlock) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// notRun are the blocks that are marked so, by their page and first line, and why.
var notRun = map[string]string{
	"README.md: CGO_ENABLED=0 go build -tags urfave_cli_no_docs -o ouro-timer . && ./ouro-timer at in 2 seconds -c 'echo it fired' && ./ouro-timer wait 4s && ./ouro-timer log": ".ci/bare runs it",
	"README.md: go test ./...":                                                   ".ci/bare runs it",
	"CONTRIBUTING.md: go test ./...          # the tests":                        "they are these tests",
	"CONTRIBUTING.md: npm install --prefix DIR @modelcontextprotocol/sdk@1.32.2": ".ci/run does it where npm is",
	"CONTRIBUTING.md: apt-get install --no-install-recommends postgresql mariadb-server redis-server nats-server rabbitmq-server dnsmasq-base unbound bind9": "it installs servers",
	"json.md: ouro-timer ls --json > answer.json":                                                  "npx fetches the validator from the net; TestScript checks answers against the schemas",
	"runner.md: cd /var/lib":                                                                       "it wants another user",
	"runner.md: $ ouro-timer run --output":                                                         "the order of the two streams is not promised; run_output.txtar has each of its lines",
	"health-wait.md: $ ouro-timer health-wait postgres://localhost/app redis://localhost":          "it wants servers that are starting up; health_wait_postgres.txtar and health_wait_redis.txtar have them",
	"health-wait.md: # PostgreSQL and Redis are ready, and the container of the worker is healthy": "it wants PostgreSQL, Redis, MySQL and Docker",
	"health-wait.md: # a certificate that was renewed":                                             "it asks the net; health_wait_tls.txtar has it",
}

// notCalls are the other words that a fence may have.
var notCalls = []string{"json", "toml", "yaml", "python", "dockerfile", "text"}

var testComment = regexp.MustCompile(`^<!-- test: (.*) -->$`)

// blocksIn are the blocks of a page.
func blocksIn(t *testing.T, page string) (list []pageBlock) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	var tests []string
	for i, line := range strings.Split(string(text), "\n") {
		fence, fenced := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch comment := testComment.FindStringSubmatch(line); {
		case fenced && inside:
			inside = false
		case fenced:
			inside = true
			list = append(list, pageBlock{page: filepath.Base(page), line: i + 1, info: fence, tests: tests})
			tests = nil
		case inside:
			b := &list[len(list)-1]
			b.lines = append(b.lines, line)
		case comment != nil:
			tests = append(tests, comment[1])
		}
	}
	if len(tests) > 0 {
		t.Errorf("%s: no block follows the comment %q", page, tests)
	}
	return list
}

// pagesWithBlocks are those whose blocks are looked at.
func pagesWithBlocks(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatal(pages, err)
	}
	return append(pages, "../README.md")
}

// TestBlocksAreMarked requires that each block says what it is, that calls stand in those that are run, and that notRun has those that are
// not.
func TestBlocksAreMarked(t *testing.T) {
	t.Parallel()
	run, seen := 0, map[string]bool{}
	for _, page := range pagesWithBlocks(t) {
		for _, b := range blocksIn(t, page) {
			prompted := slices.ContainsFunc(b.lines, func(line string) bool { return strings.HasPrefix(line, "$ ") })
			switch kind, no := strings.CutSuffix(b.info, " no-run"); {
			case kind == "console" != prompted:
				t.Errorf("%s: the fence says %q, and a prompt is in it: %t", b, b.info, prompted)
			case no && (kind == "console" || kind == "sh"):
				name := b.page + ": " + b.lines[0]
				if seen[name] = true; notRun[name] == "" {
					t.Errorf("%s is not run, and notRun does not say why: %s", b, name)
				}
			case b.runs():
				run++
			case !slices.Contains(notCalls, b.info):
				t.Errorf("%s: the fence says %q", b, b.info)
			}
		}
	}
	for name, why := range notRun {
		if !seen[name] {
			t.Errorf("there is no block %s, which is not run for %q", name, why)
		}
	}
	t.Logf("%d blocks are run, %d are not", run, len(seen))
}

// TestBlocksNotRun tries the calls of those blocks: the program takes their words.
func TestBlocksNotRun(t *testing.T) {
	clocktest.Alone(t)
	c, dir := newCaller(t)
	task, _, _ := c.call("at", "1h", "-q", "--", "true")
	r := newReader(t)
	for _, page := range pagesWithBlocks(t) {
		for _, b := range blocksIn(t, page) {
			if !strings.HasSuffix(b.info, " no-run") {
				continue
			}
			for _, line := range b.lines {
				line = strings.TrimPrefix(line, "$ ")
				if !strings.HasPrefix(line, "ouro-timer ") {
					continue
				}
				for _, words := range r.calls(line, dir, ":/usr/bin:/bin") {
					for i, w := range words[1:] {
						words[i+1] = aPageID.ReplaceAllString(w, strings.TrimSpace(task))
					}
					if said, code := c.tried(dir, words); code == cli.ExitUsage {
						t.Errorf("%s: %s ends with %d: %s", b, line, code, said)
					}
				}
			}
		}
	}
}

// TestWhatPagesShow holds what calls say to what pages show.
func TestWhatPagesShow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, said string
		is          bool
	}{
		{"removed 9hd3 (call Bob)", "removed b42p (call Bob)", true},
		{"removed 9hd3 (call Bob)", "removed b42p (call Ann)", false},
		{"removed 9hd3", "removed b42p\nand more", false},
		{"removed 9hd3\n…", "removed b42p\nand more\nand more", true},
		{"due Mon 23 Nov 2026 12:00:00 CET, in 2 hours 51 minutes", "due Fri 1 Jan 2027 09:30:01.5 CEST, in 3 days", true},
		{"due Mon 23 Nov 2026 12:00:00 CET, in 2 hours", "due tomorrow, in 2 hours", false},
		{`{"now":"…","error":{"code":"usage"}}`, `{"now":"2026-11-23T12:00:00Z","error":{"code":"usage"}}`, true},
		{`{"now":"…","error":{"code":"usage"}}`, `{"now":"2026-11-23T12:00:00Z","error":{"code":"limit"}}`, false},
		{"The runner (pid 4711) runs it.", "The runner (pid 1) runs it.", true},
		{"75", "0", false},
	} {
		pattern, _ := (&typist{names: map[string]string{}}).patternOf(strings.Split(c.shown, "\n"))
		if is := regexp.MustCompile(pattern).MatchString(c.said + "\n"); is != c.is {
			t.Errorf("a page shows\n%s\nand a call says\n%s\nthat is the same: %t", c.shown, c.said, is)
		}
	}
}

// TestPages runs the blocks of README.md and docs.
func TestPages(t *testing.T) {
	clocktest.Alone(t)
	for _, page := range pagesWithBlocks(t) {
		blocks := slices.DeleteFunc(blocksIn(t, page), func(b pageBlock) bool { return !b.runs() })
		if len(blocks) == 0 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			r := newTypist(t)
			for _, b := range blocks {
				r.run(b)
			}
			r.end()
		})
	}
}

// standIns are the programs and files that pages name.
var standIns = map[string]string{
	"bin/backup": "", "bin/fetch-news": "", "bin/make": "echo made", "bin/generate": `echo '{"when":"1h","task":"x"}'`, "bin/handle": "", "bin/mail": "cat >/dev/null", "bin/kubectl": "", "bin/crontab": "cat .crontab",
	"bin/claude": "", "bin/codex": "", "bin/gemini": "", "bin/aider": "echo DONE", "bin/python3": "cat >/dev/null",
	"fetch-news": "", "backup": "", "deploy.sh": "", "migrate": "echo migrated", "run-tests": "echo tested", "server": "", "publish": "", "release": "",
	"agent.py": "", "agents/echo_agent.py": "cat >/dev/null",
	// The service is installed, for all that a command looks at.
	".config/systemd/user/ouro-timer.service": "", ".config/systemd/user/default.target.wants/ouro-timer.service": "",
	"jobs.sh": "true\n", "src/app.ts": "",
}

// typist types calls on a terminal: a shell of its own reads them.
type typist struct {
	t     *testing.T
	shell *exec.Cmd
	calls *os.File
	shown chan string
	names map[string]string // what a page says for what is there
}

// ended is what the shell says behind each call, with its exit code.
var ended = regexp.MustCompile("\x1e([0-9]+)\x1e")

func newTypist(t *testing.T) *typist {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, ".ouro")
	tidyUp(t, home, dir)
	crontab := "30 2 * * * tar -cf /var/backups/home.tar /home\n0 9 * * MON-FRI df -h\n*/15 * * * * sync\n"
	if err := os.WriteFile(filepath.Join(dir, ".crontab"), []byte(crontab), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range standIns {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("ouro-timer") // of testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := filepath.Abs("../docs")
	if err != nil {
		t.Fatal(err)
	}
	keys, tty := newTerminal(t)
	defer tty.Close()
	if err := tty.Chmod(0o620); err != nil { // mesg y
		t.Fatal(err)
	}
	size := unix.Winsize{Row: 50, Col: 200}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	server, free := healthy(t), nettest.Refused(t)
	r := &typist{t: t, calls: write, shown: make(chan string), names: map[string]string{}}
	r.shell = exec.Command("/bin/sh", "/dev/fd/3")
	r.shell.Dir, r.shell.ExtraFiles = dir, []*os.File{read}
	r.shell.Stdin, r.shell.Stdout, r.shell.Stderr = tty, tty, tty
	r.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	r.shell.Env = []string{"HOME=" + dir, "OURO_HOME=" + home, "PATH=" + dir + "/bin:" + filepath.Dir(program) + ":/usr/bin:/bin", "TZ=Europe/Warsaw", "LC_ALL=C.UTF-8",
		"TERM=dumb", "NO_COLOR=1", "SHELL=/bin/sh", "GORACE=atexit_sleep_ms=0", "DOCS=" + schemas, "SERVER=" + server, "FREE=" + free, "USER=alice", "LOGNAME=alice"}
	if err := r.shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		write.Close()
		r.shell.Process.Kill()
		r.shell.Wait()
	})
	go func() {
		defer close(r.shown)
		b := make([]byte, 4096)
		for {
			n, err := keys.Read(b)
			if err != nil {
				return
			}
			r.shown <- string(b[:n])
		}
	}()
	return r
}

// healthy is the address of a server on the loopback that answers whatever it is asked.
func healthy(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"status": "up"}`) }))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// types has the shell run a text, and returns what came on the terminal meanwhile, and the exit code.
func (r *typist) types(text string) (said string, code int) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.calls, "%s\n__ended=$?; printf '\\036%%d\\036' $__ended; (exit $__ended)\n", text); err != nil {
		r.t.Fatal(err)
	}
	hung := time.After(2 * time.Minute)
	for {
		select {
		case more, ok := <-r.shown:
			if !ok {
				r.t.Fatalf("the shell ended at %s: %s", text, said)
			}
			said += more
		case <-hung:
			r.t.Fatalf("%s does not end: %s", text, said)
		}
		if m := ended.FindStringSubmatchIndex(said); m != nil {
			code, _ = strconv.Atoi(said[m[2]:m[3]])
			return onScreen(said[:m[0]] + said[m[1]:]), code
		}
	}
}

// control is what moves the cursor, colours, or rings.
var control = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|\a")

// onScreen is what stands on a terminal in the end that was sent a text: of each line what came after its last return to the beginning.
func onScreen(sent string) string {
	var b strings.Builder
	for line := range strings.Lines(sent) {
		line = strings.TrimRight(control.ReplaceAllString(line, ""), "\r\n")
		b.WriteString(line[strings.LastIndex(line, "\r")+1:] + "\n")
	}
	return b.String()
}

// prepare does what the comments before a block say.
func (r *typist) prepare(b pageBlock) {
	r.t.Helper()
	for _, text := range b.tests {
		there, here, is := strings.Cut(text, " => ")
		if !is {
			if said, code := r.types(r.here(text)); code != 0 {
				r.t.Fatalf("%s: preparing it, %s ends with %d: %s", b, text, code, said)
			}
			continue
		}
		said, code := r.types(`printf '\035%s\035' "` + r.here(here) + `"`)
		parts := strings.Split(said, "\x1d")
		if code != 0 || len(parts) != 3 || parts[1] == "" {
			r.t.Fatalf("%s: %s is nothing: %s", b, here, said)
		}
		r.name(there, strings.TrimSpace(parts[1]))
	}
}

// name has something that is there be called so in the page.
func (r *typist) name(there, here string) {
	r.names[there] = here
}

// here is a text of the page with the names that things have here.
func (r *typist) here(text string) string {
	var pairs []string
	for _, name := range slices.SortedFunc(maps.Keys(r.names), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, name, r.names[name])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// run runs a block.
func (r *typist) run(b pageBlock) {
	r.t.Helper()
	r.prepare(b)
	text := strings.Join(b.lines, "\n")
	if name := b.file(); name != "" {
		if err := os.WriteFile(filepath.Join(r.shell.Dir, name), []byte(text+"\n"), 0o600); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	if b.info != "console" {
		shell, err := exec.LookPath(b.info)
		if err != nil {
			r.t.Logf("%s is not run: there is no %s", b, b.info)
			return
		}
		file := filepath.Join(r.shell.Dir, "block")
		if err := os.WriteFile(file, []byte(r.here(text)), 0o600); err != nil {
			r.t.Fatal(err)
		}
		flag := "-e"
		if b.info == "fish" {
			flag = "-N"
		}
		if said, code := r.types(shell + " " + flag + " " + file); code != 0 {
			r.t.Errorf("%s ends with %d: %s", b, code, said)
		}
		return
	}
	for i := 0; i < len(b.lines); {
		call := strings.TrimPrefix(b.lines[i], "$ ")
		var shown []string
		for i++; i < len(b.lines) && !strings.HasPrefix(b.lines[i], "$ "); i++ {
			shown = append(shown, b.lines[i])
		}
		for len(shown) > 0 && shown[len(shown)-1] == "" {
			shown = shown[:len(shown)-1]
		}
		said, code := r.types(r.here(call))
		if len(shown) == 0 {
			if code != 0 {
				r.t.Errorf("%s: %s ends with %d: %s", b, call, code, said)
			}
			continue
		}
		r.compare(b, call, shown, said)
	}
}

const units = `(?: (?:second|minute|hour|day|week|month|year)s?|ms|s|m|h|d)\b`

// varying are what is another thing each time, and what the page shows it by.
var varying = []string{
	`…`,
	`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [0-9]{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4}(?: [0-9:.]+)?(?: [A-Z]{3,4}\b)?`,
	`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(?:[+-][0-9]{2}:[0-9]{2}|Z)?`,
	`pid [0-9]+`,
	`/dev/pts/[0-9]+`,
	`_seconds":[0-9.]+`,
	`"attempts":[0-9]+|\b[0-9]+ attempts?\b`,
	`\b[0-9]{2}:[0-9]{2}:[0-9]{2}\b`,
	`\b[0-9]+(?:\.[0-9]+)?` + units + `(?: [0-9]+` + units + `)*`,
}

var (
	varies  = regexp.MustCompile(`(` + strings.Join(varying, `)|(`) + `)|` + aPageID.String())
	aPageID = regexp.MustCompile(`\b(?:[a-z2-9]*[a-z][2-9][a-z2-9]*|[a-z2-9]*[2-9][a-z][a-z2-9]*)\b`)
)

// patternOf is what a call may say for what the page shows, with a group for each of the IDs that are not known yet.
func (r *typist) patternOf(shown []string) (pattern string, ids []string) {
	for _, line := range shown {
		if line == "…" {
			pattern += `(?:.*\n)*?`
			continue
		}
		line, done := r.here(line), 0
		for _, at := range varies.FindAllStringSubmatchIndex(line, -1) {
			pattern += regexp.QuoteMeta(line[done:at[0]])
			done = at[1]
			kind := -1
			for i := range varying {
				if at[2*i+2] >= 0 {
					kind = i
				}
			}
			switch what := line[at[0]:at[1]]; {
			case kind == 0:
				pattern += `.*`
			case kind > 0:
				pattern += varying[kind]
			case len(what) != 4 || slices.Contains(slices.Collect(maps.Values(r.names)), what):
				pattern += regexp.QuoteMeta(what)
			default:
				ids = append(ids, what)
				pattern += `([a-z2-9]{4})`
			}
		}
		pattern += regexp.QuoteMeta(line[done:]) + ` *\n`
	}
	return `^` + pattern + `$`, ids
}

// compare holds what a call said to what the page shows.
func (r *typist) compare(b pageBlock, call string, shown []string, said string) {
	r.t.Helper()
	pattern, ids := r.patternOf(shown)
	m := regexp.MustCompile(pattern).FindStringSubmatch(strings.TrimRight(said, "\n") + "\n")
	if m == nil {
		r.t.Errorf("%s: %s\nsays\n%s\nand the page shows\n%s", b, call, said, strings.Join(shown, "\n"))
		return
	}
	for i, id := range ids {
		if here := r.names[id]; here != "" && here != m[i+1] {
			r.t.Errorf("%s: %s: %s stands for %s and for %s", b, call, id, here, m[i+1])
		}
		r.name(id, m[i+1])
	}
}

// end types the last call.
func (r *typist) end() {
	r.t.Helper()
	if said, code := r.types("ouro-timer run --stop --kill -q; :"); code != 0 {
		r.t.Errorf("stopping the runner ends with %d: %s", code, said)
	}
}
