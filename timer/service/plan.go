// Package service makes the service manager of the system start a runner, at login or with the
// machine. A Plan has the file that this takes and the calls, for each manager. A Status is the
// state of the service, and a Change what to do to it.
package service

import (
	"crypto/sha256"
	"fmt"
	"html"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// World is what a service depends on.
type World struct {
	Program string // the real path of this program
	State   string // the state folder
	Home    string // the home of the user
	Config  string // the folder in which programs keep their settings
	User    string // the name of the user
	UID     int
}

// usual reports whether the state is in the default folder of the user.
func (w World) usual() bool { return w.State == filepath.Join(w.Home, ".ouro") }

// name returns ouro-timer for the default folder, and a different name for each other one.
func (w World) name() string {
	if w.usual() {
		return "ouro-timer"
	}
	return fmt.Sprintf("ouro-timer-%.4x", sha256.Sum256([]byte(w.State)))
}

// Plan is a service: its file and its calls.
type Plan struct {
	Manager string // systemd, launchd, openrc, runit
	Program string
	System  bool       // it belongs to the machine and starts with it, not with the login of a user
	User    string     // of a service of the system: the user who runs the tasks
	Path    string     // of its file
	Text    string     // of its file
	Tells   []string   // shows why the service does not run
	On, Off [][]string // start it, now and at login; and the opposite

	proof   []string // files that exist when it starts at login
	folders []string // to be removed when they are empty, innermost first
	probe   []string // succeeds when the manager can be asked
	asks    []string // succeeds when the service runs
	reload  []string // called after the file was removed; nil for nothing
	lint    []string // called with a copy of the file; fails when the manager would not accept it
	warns   bool     // what lint says about a file that it accepts is a warning
	script  bool     // the file is an executable program
	// Exists when services of the user run without a session; empty when that is unknown.
	linger string
}

// For returns the service of a state folder on an operating system, by its name in Go. It reports
// false when no service manager is known there.
func For(system string, w World) (Plan, bool) {
	switch system {
	case "linux":
		return systemd(w), true
	case "darwin":
		return launchd(w), true
	}
	return Plan{}, false
}

// systemdUnit is the unit of systemd. KillMode=process spares the commands: the next runner waits
// for those that outlive this one. The service is ready when it leads, or stands by for another
// runner. It is restarted when its loop has stopped for WatchdogSec. What commands write goes to
// the journal, as with a timer of systemd.
const systemdUnit = `# %[1]s
[Unit]
Description=ouro-timer: does what is due, when it is due
%[2]s
[Service]
Type=notify
WatchdogSec=3min
%[3]sExecStart=%[4]s run --standby --output
ExecReload=/bin/kill -HUP $MAINPID
%[5]sKillMode=process
TimeoutStopSec=30
Restart=on-failure
RestartSec=5
Delegate=yes
%[6]s
[Install]
WantedBy=%[7]s
`

// systemdPlan returns a service of a manager of systemd, which ctl calls and verify checks files
// for.
func systemdPlan(program, dir, unit, target string, ctl, verify []string) Plan {
	call := func(words ...string) []string { return slices.Concat(ctl, words) }
	return Plan{
		Manager: "systemd", Program: program,
		Path:   filepath.Join(dir, unit),
		Tells:  call("status", unit),
		On:     [][]string{call("daemon-reload"), call("enable", "--now", unit)},
		Off:    [][]string{call("disable", "--now", unit)},
		proof:  []string{filepath.Join(dir, target+".wants", unit)},
		probe:  call("show-environment"),
		asks:   call("is-active", "--quiet", unit),
		reload: call("daemon-reload"),
		lint:   verify,
		warns:  true,
	}
}

func systemd(w World) Plan {
	const target = "default.target"
	environment := ""
	if !w.usual() {
		environment = "Environment=" + systemdQuote("OURO_HOME="+w.State, false) + "\n"
	}
	dir := filepath.Join(w.Config, "systemd", "user")
	p := systemdPlan(w.Program, dir, w.name()+".service", target, []string{"systemctl", "--user"},
		[]string{"systemd-analyze", "--user", "verify"})
	p.Text = fmt.Sprintf(systemdUnit, "Written by ouro-timer service install; ouro-timer service uninstall removes it.",
		"", "", systemdQuote(w.Program, true), environment, "", target)
	p.folders = []string{filepath.Join(dir, target+".wants"), dir, filepath.Dir(dir)}
	if w.User != "" {
		p.linger = filepath.Join("/var/lib/systemd/linger", w.User)
	}
	return p
}

// systemdQuote writes a word for systemd.service(5): in quotes, with %-specifiers and, in a command
// line, variables escaped.
func systemdQuote(word string, command bool) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`, "\t", `\t`).Replace(word)
	if command {
		word = strings.ReplaceAll(word, "$", "$$")
	}
	return `"` + word + `"`
}

// launchdAgent is the agent. AbandonProcessGroup spares the commands, like KillMode=process.
const launchdAgent = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by ouro-timer service install; ouro-timer service uninstall removes it. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
		<string>%s</string>
		<string>run</string>
		<string>--standby</string>
	</array>
%s	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>AbandonProcessGroup</key>
	<true/>
</dict>
</plist>
`

func launchd(w World) Plan {
	label := w.name()
	environment := ""
	if !w.usual() {
		environment = "\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>OURO_HOME</key>\n\t\t<string>" + xmlText(w.State) + "</string>\n\t</dict>\n"
	}
	path := filepath.Join(w.Home, "Library", "LaunchAgents", label+".plist")
	domain := fmt.Sprintf("gui/%d", w.UID)
	about := []string{"launchctl", "print", domain + "/" + label}
	return Plan{
		Manager: "launchd", Program: w.Program, Path: path,
		Text:    fmt.Sprintf(launchdAgent, label, xmlText(w.Program), environment),
		Tells:   about,
		On:      [][]string{{"launchctl", "bootstrap", domain, path}},
		Off:     [][]string{{"launchctl", "bootout", domain + "/" + label}},
		proof:   []string{path},
		folders: []string{filepath.Dir(path)},
		probe:   []string{"launchctl", "print", domain},
		asks:    about,
		lint:    []string{"plutil", "-lint"}, // it also reports that a correct file is correct
	}
}

// xmlText escapes a text for XML 1.0. Characters that no document may have become a visible mark.
// (encoding/xml does this too, but would slow down every start of the program.)
func xmlText(text string) string {
	legal := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text)
	return strings.ReplaceAll(html.EscapeString(legal), "\r", "&#13;")
}
