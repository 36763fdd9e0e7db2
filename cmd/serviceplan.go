package cmd

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
)

// serviceWorld is what the service depends on.
type serviceWorld struct {
	program string // this program's real path
	state   string // the state folder
	user    string // the user's home
	config  string // where programs keep their settings
	uid     int
}

// servicePlan is a service: its file, and what to call.
type servicePlan struct {
	manager string // systemd, launchd
	program string
	path    string // of its file
	text    string // of its file
	proof   []string
	folders []string   // to be removed when nothing is in them, innermost first
	probe   []string   // succeeds when the manager can be asked
	asks    []string   // succeeds when the service runs
	on, off [][]string // start it, now and at login; and the opposite
	reload  []string   // after the file was removed; nil for nothing
	lint    []string   // called with a copy of the file: fails when the manager would not take it
	tells   []string   // says why the service does not run
}

// serviceName is ouro-timer for the usual folder, and something of its own for each other one.
func serviceName(w serviceWorld) string {
	if w.state == filepath.Join(w.user, ".ouro") {
		return "ouro-timer"
	}
	return fmt.Sprintf("ouro-timer-%.4x", sha256.Sum256([]byte(w.state)))
}

// systemdUnit is the unit. KillMode=process leaves commands alone: what outlives the runner is seen to its end by the next one. What
// commands write goes to the journal, as that of a timer of systemd's does.
const systemdUnit = `# Written by ouro-timer service install; ouro-timer service uninstall removes it.
[Unit]
Description=ouro-timer: does what is due, when it is due

[Service]
Type=exec
ExecStart=%s run --standby --output
ExecReload=/bin/kill -HUP $MAINPID
%sKillMode=process
TimeoutStopSec=30
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
`

func systemdPlan(w serviceWorld) servicePlan {
	unit := serviceName(w) + ".service"
	environment := ""
	if w.state != filepath.Join(w.user, ".ouro") {
		environment = "Environment=" + systemdQuote("OURO_HOME="+w.state, false) + "\n"
	}
	dir := filepath.Join(w.config, "systemd", "user")
	wants := filepath.Join(dir, "default.target.wants")
	ctl := func(words ...string) []string { return append([]string{"systemctl", "--user"}, words...) }
	return servicePlan{
		manager: "systemd", program: w.program,
		path:    filepath.Join(dir, unit),
		text:    fmt.Sprintf(systemdUnit, systemdQuote(w.program, true), environment),
		proof:   []string{filepath.Join(wants, unit)},
		folders: []string{wants, dir, filepath.Dir(dir)},
		probe:   ctl("show-environment"),
		asks:    ctl("is-active", "--quiet", unit),
		on:      [][]string{ctl("daemon-reload"), ctl("enable", "--now", unit)},
		off:     [][]string{ctl("disable", "--now", unit)},
		reload:  ctl("daemon-reload"),
		lint:    []string{"systemd-analyze", "--user", "verify"},
		tells:   ctl("status", unit),
	}
}

// systemdQuote writes a word as systemd.service(5) reads it back: in quotes, with %-specifiers and, in a command line, variables
// made harmless.
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

func launchdPlan(w serviceWorld) servicePlan {
	label := serviceName(w)
	environment := ""
	if w.state != filepath.Join(w.user, ".ouro") {
		environment = "\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>OURO_HOME</key>\n\t\t<string>" + xmlText(w.state) + "</string>\n\t</dict>\n"
	}
	path := filepath.Join(w.user, "Library", "LaunchAgents", label+".plist")
	domain := fmt.Sprintf("gui/%d", w.uid)
	return servicePlan{
		manager: "launchd", program: w.program, path: path,
		text:    fmt.Sprintf(launchdAgent, label, xmlText(w.program), environment),
		proof:   []string{path},
		folders: []string{filepath.Dir(path)},
		probe:   []string{"launchctl", "print", domain},
		asks:    []string{"launchctl", "print", domain + "/" + label},
		on:      [][]string{{"launchctl", "bootstrap", domain, path}},
		off:     [][]string{{"launchctl", "bootout", domain + "/" + label}},
		lint:    []string{"plutil", "-lint"},
		tells:   []string{"launchctl", "print", domain + "/" + label},
	}
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
