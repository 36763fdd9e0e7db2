package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// Where there is no /bin/sh that is said, and what to do without.
func TestNoShell(t *testing.T) {
	t.Parallel()
	c, dir := newCaller(t)
	hide := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		hide = append(hide, "--user", "--map-root-user")
	}
	hide = append(hide, "sh", "-c", `mount -t tmpfs none /usr/bin && { [ -L /bin ] || mount -t tmpfs none /bin; } && exec "$@"`, "sh")
	called := filepath.Join(dir, "ouro-timer")
	if err := os.Symlink(c.self, called); err != nil {
		t.Fatal(err)
	}
	without := func(args ...string) string {
		cmd := exec.Command(hide[0], append(append(hide[1:], called), args...)...)
		cmd.Env, cmd.Dir = c.env(), "/"
		out, _ := cmd.CombinedOutput() // what is said says it
		return string(out)
	}
	if out := without("version"); !strings.Contains(out, "ouro-timer") {
		t.Skipf("/bin/sh cannot be hidden here: %s", out)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "now", "-q", "-c", "echo a; echo b"))
	simple := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "now", "-q", "-c", "ls"))
	gated := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "now", "-q", "--if", "true", "--", "/bin/true"))
	named := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "now", "-q", "--", write("named", "#!/bin/sh\necho a\n")))
	bare := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "now", "-q", "--", write("bare", "echo a\n")))
	const none, instead = "there is no /bin/sh here", "behind --, which needs no shell"
	if out := without("doctor"); !strings.Contains(out, "("+"echo a; echo b"+"): "+none) {
		t.Errorf("doctor: %s", out)
	}
	if out := without("at", "1h", "-c", "echo"); !strings.Contains(out, none) || !strings.Contains(out, "a command that needs no shell") {
		t.Errorf("at -c: %s", out)
	}
	said := without("run", "--once")
	for id, words := range map[string][]string{text: {none, instead}, simple: {none, instead}, gated: {none, instead}, named: {"its interpreter /bin/sh does not exist"}, bare: {"its interpreter /bin/sh does not exist"}} {
		line := ""
		for l := range strings.Lines(said) {
			if strings.Contains(l, " "+id+"/1 ") {
				line = l
			}
		}
		for _, w := range words {
			if !strings.Contains(line, w) {
				t.Errorf("%s does not say %q in\n%s", id, w, said)
			}
		}
	}
}
