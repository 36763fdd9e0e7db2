package service

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// SystemState is the state folder of the service of the system. Its parent is not a home, so it has
// no tasks of a user.
const SystemState = "/var/lib/ouro-timer"

// SystemUser is the user who runs the tasks of the service of the system, unless another is named.
const SystemUser = "ouro-timer"

// Inits are the managers for which a service of the system can be made.
var Inits = []string{"systemd", "openrc", "runit"}

// InitOf returns the manager of this machine, by the folder that it makes when it starts; exists
// reports whether a folder exists. It is systemd when none does.
func InitOf(exists func(path string) bool) string {
	switch {
	case exists("/run/systemd/system"):
		return "systemd"
	case exists("/run/openrc"):
		return "openrc"
	case exists("/run/runit"), exists("/run/runit.stopit"), exists("/etc/runit/runsvdir"):
		return "runit"
	}
	return "systemd"
}

// ForSystem returns the service of the machine for one of Inits: program runs the tasks below
// SystemState as user. links is the folder in which runit looks for services.
func ForSystem(init, program, user, links string) (Plan, bool) {
	switch init {
	case "systemd":
		return systemdSystem(program, user), true
	case "openrc":
		return openrc(program, user), true
	case "runit":
		return runit(program, user, links), true
	}
	return Plan{}, false
}

// These are the parts that only the unit of the system has: where its state is, and what it may not
// do. Its commands may not do that either: a task that needs more belongs to a user, or to a
// drop-in (systemctl edit ouro-timer). Memory that is both writable and executable is allowed,
// because interpreters need it.
const (
	systemOrder = `After=network-online.target time-sync.target
Wants=network-online.target
`
	systemState = `User=%s
Environment=OURO_HOME=` + SystemState + `
StateDirectory=ouro-timer
StateDirectoryMode=0700
UMask=0077
`
	systemBounds = `NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
`
)

// InstalledUser returns the user who runs the tasks, as the file of a service of the system has it,
// or "" when it is not installed.
func (p Plan) InstalledUser() string {
	text, _ := os.ReadFile(p.Path)
	for line := range strings.Lines(string(text)) {
		for _, before := range []string{"User=", "command_user=", "exec chpst -u "} {
			if rest, ok := strings.CutPrefix(line, before); ok {
				name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
				return name
			}
		}
	}
	return ""
}

func systemdSystem(program, user string) Plan {
	const target = "multi-user.target"
	p := systemdPlan(program, "/etc/systemd/system", "ouro-timer.service", target, []string{"systemctl"},
		[]string{"systemd-analyze", "verify"})
	p.System, p.User = true, user
	p.Text = fmt.Sprintf(systemdUnit, "The service of the system, as ouro-timer service install --system writes it.",
		systemOrder, fmt.Sprintf(systemState, user), systemdQuote(program, true), "", systemBounds, target)
	return p
}

// openrcScript is the script of OpenRC. supervise-daemon restarts a runner that has died. It ends
// only the runner, so commands go on.
const openrcScript = `#!/sbin/openrc-run
# The service of the system, as ouro-timer service install --system --init openrc writes it.
description="ouro-timer: does what is due, when it is due"
supervisor=supervise-daemon
command=%s
command_args="run --standby"
command_user=%s
directory=/
umask=077
respawn_delay=5
respawn_max=0
retry=TERM/30/KILL/5
# With no_new_privs=yes, OpenRC 0.45 passes an option that its supervise-daemon does not know.
case $(supervise-daemon "$RC_SVCNAME" --help 2>&1) in *no-new-privs*) supervise_daemon_args=--no-new-privs ;; esac
output_log=/var/log/ouro-timer.log
error_log=/var/log/ouro-timer.log
extra_started_commands=reload
export OURO_HOME=` + SystemState + `

depend() {
	use localmount net logger
	after bootmisc ntpd chronyd
}

start_pre() {
	checkpath --directory --mode 0700 --owner %[2]s ` + SystemState + ` &&
		checkpath --file --mode 0640 --owner %[2]s /var/log/ouro-timer.log
}

reload() {
	ebegin "Having ouro-timer read its settings again"
	supervise-daemon "$RC_SVCNAME" --signal HUP
	eend $?
}
`

func openrc(program, user string) Plan {
	const name = "ouro-timer"
	return Plan{
		Manager: "openrc", Program: program, System: true, User: user, script: true,
		Path:  "/etc/init.d/" + name,
		Text:  fmt.Sprintf(openrcScript, shellWord(program), shellWord(user)),
		Tells: []string{"rc-service", name, "status"},
		On:    [][]string{{"rc-update", "add", name, "default"}, {"rc-service", name, "start"}},
		Off:   [][]string{{"rc-service", name, "stop"}, {"rc-update", "del", name, "default"}},
		proof: []string{"/etc/runlevels/default/" + name},
		probe: []string{"rc-status", "--runlevel"},
		asks:  []string{"rc-service", name, "status"},
		lint:  []string{"sh", "-n"},
	}
}

// runitScript is the run script of runit. runsv ends only the runner, so commands go on.
const runitScript = `#!/bin/sh
# The service of the system, as ouro-timer service install --system --init runit writes it.
exec 2>&1
umask 077
cd / || exit
install -d -m 0700 -o %[2]s ` + SystemState + ` || exit
OURO_HOME=` + SystemState + `
export OURO_HOME
exec chpst -u %[2]s %[1]s run --standby --output
`

// runitStarts waits until runsvdir, which checks every 5 s, has found the link.
const runitStarts = `n=0; until sv start ouro-timer; do n=$((n + 1)); [ $n -lt 15 ] || exit 1; sleep 1; done`

func runit(program, user, links string) Plan {
	const dir = "/etc/sv/ouro-timer"
	link := filepath.Join(links, "ouro-timer")
	return Plan{
		Manager: "runit", Program: program, System: true, User: user, script: true,
		Path:    dir + "/run",
		Text:    fmt.Sprintf(runitScript, shellWord(program), shellWord(user)),
		Tells:   []string{"sv", "status", "ouro-timer"},
		On:      [][]string{{"ln", "-sfn", dir, link}, {"sh", "-c", runitStarts}},
		Off:     [][]string{{"sv", "stop", "ouro-timer"}, {"rm", "-f", link}},
		proof:   []string{link},
		folders: []string{dir},
		probe:   []string{"sh", "-c", `command -v sv >/dev/null || { echo "there is no sv" >&2; exit 1; }; test -d "$1" || { echo "there is no folder $1" >&2; exit 1; }`, "sh", links},
		asks:    []string{"sh", "-c", "sv status ouro-timer | grep -q '^run:'"},
		lint:    []string{"sh", "-n"},
	}
}

// shellWord writes a word for sh.
func shellWord(word string) string { return state.ShellLine([]string{word}) }
