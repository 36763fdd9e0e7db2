package daemon

import (
	"errors"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// TestMayChange: who is not root is told what to type, and root is told of a user that is not
// there. Sessions do not try this, because one that root runs would install a service of this
// machine.
func TestMayChange(t *testing.T) {
	p, _ := service.ForSystem("systemd", "/usr/bin/ouro-timer", "backup", "")
	for _, c := range []struct {
		name, what    string
		uid           int
		known         bool
		message, hint string // empty: it may
	}{
		{"root", "install", 0, true, "", ""},
		{"root removes what a user had who is gone", "uninstall", 0, false, "", ""},
		{"a user", "install", 1000, true, "only root may install the service of the system", "sudo ouro-timer service install --system; with --print added it shows the file"},
		{"a user removes", "uninstall", 1000, true, "only root may uninstall the service of the system", "sudo ouro-timer service uninstall --system; with --print added it shows the file"},
		{"nobody of that name", "install", 0, false, "there is no user backup to run the tasks",
			"useradd --system --home-dir /var/lib/ouro-timer --shell /usr/sbin/nologin backup makes one; --run-as names another"},
	} {
		err := mayChange(p, c.what, problem.To("service", c.what).With("system", true), c.uid, func(string) bool { return c.known })
		if c.message == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var refused *problem.Problem
		if !errors.As(err, &refused) || refused.Code != problem.Failed {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := refused.Message.String(); got != c.message {
			t.Errorf("%s: %s", c.name, got)
		}
		if got := refused.Hint.String(); got != c.hint {
			t.Errorf("%s: hint: %s", c.name, got)
		}
	}
}

// TestBarredProblem: what keeps the service from working is told with the folder and what to type.
func TestBarredProblem(t *testing.T) {
	p, _ := service.ForSystem("runit", "/root/ouro-timer", "backup", "/etc/service")
	for _, c := range []struct {
		bar           service.Bar
		message, hint string // empty: nothing is wrong
	}{
		{service.Bar{}, "", ""},
		{service.Bar{Path: "/var/lib", Why: service.AboveState, Mend: []string{"chmod", "o+x", "/var/lib"}},
			"backup may not enter /var/lib, and the tasks are below it",
			"chmod o+x /var/lib; or --run-as names another user"},
		{service.Bar{Path: "/root", Why: service.AboveProgram},
			"backup may not enter /root, and this program is below it (/root/ouro-timer)",
			"put the program where everybody may run it, such as /usr/local/bin, and call it there"},
		{service.Bar{Path: "/var/lib/ouro-timer/runs", Why: service.InState,
			Mend: []string{"chown", "-R", "backup", "/var/lib/ouro-timer"}},
			"/var/lib/ouro-timer/runs belongs to another user than backup",
			"chown -R backup /var/lib/ouro-timer; or --run-as names another user"},
	} {
		err := barredProblem(c.bar, p)
		if c.message == "" {
			if err != nil {
				t.Errorf("%+v: %v", c.bar, err)
			}
			continue
		}
		var refused *problem.Problem
		if !errors.As(err, &refused) || refused.Code != problem.Failed || refused.Message.String() != c.message ||
			refused.Hint.String() != c.hint {
			t.Errorf("%+v: %v", c.bar, err)
		}
	}
}

// TestConsentHint sees that the hint of a call that is not answered on a terminal repeats the
// options of the call.
func TestConsentHint(t *testing.T) {
	opt := option.Values{}.With("system", true).With("init", "runit").With("run-as", "backup")
	s := &cli.Call{World: cli.World{In: strings.NewReader("")}, Args: []string{"install"}, Opt: opt}
	var refused *problem.Problem
	if !errors.As(consent(s, "This will write a file"), &refused) {
		t.Fatal("it went on without --yes")
	}
	want := "to have it done: ouro-timer service install --system --run-as backup --init runit --yes; --print shows the file"
	if got := refused.Hint.In(problem.Shell{Program: "ouro-timer"}); got != want {
		t.Errorf("the hint is %q, want %q", got, want)
	}
}
