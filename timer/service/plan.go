// Package service has the system's manager of services start a runner, at login or with the machine.
// A Plan says which file that takes and what is called, for each manager; a Status is how it stands,
// and a Change what is done to it.
package service

import (
	"crypto/sha256"
	"fmt"
	"html"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// World is what a service depends on.
type World struct {
	Program string // this program's real path
	State   string // the state folder
	Home    string // the user's
	Config  string // where programs keep their settings
	User    string // the user's name
	UID     int
}

// usual reports whether the state is in the folder that every program of the user would look in.
func (w World) usual() bool { return w.State == filepath.Join(w.Home, ".ouro") }

// name is ouro-timer for the usual folder, and something of its own for each other one.
func (w World) name() string {
	if w.usual() {
		return "ouro-timer"
	}
	return fmt.Sprintf("ouro-timer-%.4x", sha256.Sum256([]byte(w.State)))
}

// Plan is a service: its file, and what to call.
type Plan struct {
	Manager string // systemd, launchd, openrc, runit
	Program string
	System  bool       // it belongs to the machine and starts with it, not to a user who logs in
	User    string     // of a service of the system: who runs the tasks
	Path    string     // of its file
	Text    string     // of its file
	Tells   []string   // says why the service does not run
	On, Off [][]string // start it, now and at login; and the opposite

	proof   []string // files that are there when it starts at login
	folders []string // to be removed when nothing is in them, innermost first
	probe   []string // succeeds when the manager can be asked
	asks    []string // succeeds when the service runs
	reload  []string // after the file was removed; nil for nothing
	lint    []string // called with a copy of the file: fails when the manager would not take it
	warns   bool     // what lint says of a file that it takes is a warning
	script  bool     // the file is a program: it may be executed
	linger  string   // is there when the user's services run without a session; empty where that is not known
}

// For is the service of a state folder on an operating system, as Go names that; false where there
// is no manager that we know.
func For(system string, w World) (Plan, bool) {
	switch system {
	case "linux":
		return systemd(w), true
	case "darwin":
		return launchd(w), true
	}
	return Plan{}, false
}

// systemdUnit is the unit. KillMode=process leaves commands alone: what outlives the runner is seen
// to its end by the next one. It is ready when it leads, or stands by for another runner; when its loop
// has not turned for WatchdogSec it is started anew. What commands write goes to the journal, as that of a timer of
// systemd's does.
const systemdUnit = `# Written by ouro-timer service install; ouro-timer service uninstall removes it.
[Unit]
Description=ouro-timer: does what is due, when it is due

[Service]
Type=notify
WatchdogSec=3min
ExecStart=%s run --standby --output
ExecReload=/bin/kill -HUP $MAINPID
%sKillMode=process
TimeoutStopSec=30
Restart=on-failure
RestartSec=5
Delegate=yes

[Install]
WantedBy=default.target
`

func systemd(w World) Plan {
	unit := w.name() + ".service"
	environment := ""
	if !w.usual() {
		environment = "Environment=" + systemdQuote("OURO_HOME="+w.State, false) + "\n"
	}
	dir := filepath.Join(w.Config, "systemd", "user")
	wants := filepath.Join(dir, "default.target.wants")
	ctl := func(words ...string) []string { return append([]string{"systemctl", "--user"}, words...) }
	p := Plan{
		Manager: "systemd", Program: w.Program,
		Path:    filepath.Join(dir, unit),
		Text:    fmt.Sprintf(systemdUnit, systemdQuote(w.Program, true), environment),
		Tells:   ctl("status", unit),
		On:      [][]string{ctl("daemon-reload"), ctl("enable", "--now", unit)},
		Off:     [][]string{ctl("disable", "--now", unit)},
		proof:   []string{filepath.Join(wants, unit)},
		folders: []string{wants, dir, filepath.Dir(dir)},
		probe:   ctl("show-environment"),
		asks:    ctl("is-active", "--quiet", unit),
		reload:  ctl("daemon-reload"),
		lint:    []string{"systemd-analyze", "--user", "verify"},
		warns:   true,
	}
	if w.User != "" {
		p.linger = filepath.Join("/var/lib/systemd/linger", w.User)
	}
	return p
}

// systemdQuote writes a word as systemd.service(5) reads it back: in quotes, with %-specifiers and,
// in a command line, variables made harmless.
func systemdQuote(word string, command bool) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`, "\t", `\t`).Replace(word)
	if command {
		word = strings.ReplaceAll(word, "$", "$$")
	}
	return `"` + word + `"`
}

// launchdAgent is the agent. AbandonProcessGroup leaves commands alone, as KillMode=process does.
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
		lint:    []string{"plutil", "-lint"}, // which says of a good file, too, that it is good
	}
}

// xmlText is text as XML 1.0 has it: what no document can have is shown as such. (encoding/xml, which has it too, costs every call of every
// command its start.)
func xmlText(text string) string {
	legal := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text)
	return strings.ReplaceAll(html.EscapeString(legal), "\r", "&#13;")
}
