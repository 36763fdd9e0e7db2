// Picture makes docs/session.svg, the picture of README.md, from a session in a terminal of tmux:
// go run ./.ci/picture
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/clitest"
)

const columns, rows = 112, 27

// calls are typed one after the other, each after the end of the one before.
var calls = []string{
	`ouro-timer at every weekday at 9am -- ./fetch-news`,
	`ouro-timer at in 20 minutes --task "call Bob"`,
	`ouro-timer at next friday at 5 -- make backup`,
	`ouro-timer at next friday at 5pm -- make backup`,
	`ouro-timer ls`,
	`ouro-timer wait 4m --name tea`,
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run() error {
	folder, err := os.MkdirTemp("", "picture")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", filepath.Join(folder, "bin", "ouro-timer"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "fetch-news"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		return err
	}
	// Commands see an installed service here.
	wants := filepath.Join(folder, ".config", "systemd", "user", "default.target.wants")
	if err := os.MkdirAll(wants, 0o755); err != nil {
		return err
	}
	for _, path := range []string{filepath.Dir(wants), wants} {
		if err := os.WriteFile(filepath.Join(path, "ouro-timer.service"), nil, 0o644); err != nil {
			return err
		}
	}
	rc := "mesg y; PS1='\\[\\e[32m\\]$\\[\\e[m\\] ' PATH=" + folder + "/bin:$PATH; unset NO_COLOR\n"
	if err := os.WriteFile(filepath.Join(folder, "rc"), []byte(rc), 0o644); err != nil {
		return err
	}
	tmux := func(words ...string) (string, error) {
		c := exec.Command("tmux", append([]string{"-S", folder + "/socket", "-f", "/dev/null"}, words...)...)
		c.Env = append(os.Environ(), "TMUX=", "TERM=xterm-256color")
		out, err := c.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("tmux %s: %w: %s", words[0], err, out)
		}
		return string(out), nil
	}
	words := []string{"new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "-c", folder}
	for _, pair := range []string{"HOME=" + folder, "OURO_HOME=" + folder + "/.ouro", "TZ=Europe/Warsaw", "LC_ALL=C.UTF-8"} {
		words = append(words, "-e", pair)
	}
	if _, err := tmux(append(words, "bash --rcfile rc -i")...); err != nil {
		return err
	}
	defer tmux("kill-server")
	for _, call := range calls {
		time.Sleep(2 * time.Second) // like a person who reads and types
		if _, err := tmux("send-keys", "-l", call); err != nil {
			return err
		}
		if _, err := tmux("send-keys", "Enter"); err != nil {
			return err
		}
	}
	time.Sleep(3 * time.Second)
	screen, err := tmux("capture-pane", "-e", "-p")
	if err != nil {
		return err
	}
	if _, err := tmux("send-keys", "C-c"); err != nil {
		return err
	}
	if _, err := tmux("send-keys", "ouro-timer run --stop", "Enter"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer("\x1b[0m", "\x1b[m", "\x1b[39m", "\x1b[m").Replace(line)
	}
	return os.WriteFile("docs/session.svg", []byte(clitest.Picture(lines, columns)), 0o644)
}
