package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// DesktopCommand is the hidden command of this program that shows a notification.
const DesktopCommand = "_desktop"

// notification is what DesktopCommand reads on standard input.
type notification struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

const noBus = "there is no desktop to notify: no D-Bus session bus (DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no bus)"

// sendDesktop shows a notification from a child process that runs this program. The library cannot
// be stopped when a bus or a daemon never answers, and it reads the environment of its process. It
// would also start a bus where there is none (dbus-launch), or take a title that begins with a dash
// for an option (notify-send). So the child gets the address of the bus, and no PATH.
func sendDesktop(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	if m.To != "" {
		return "", permanent("%s takes no recipient", c.Name)
	}
	vars := []string{}
	if hasBuses {
		bus := SessionBus(env.Getenv)
		if bus == "" {
			return "", transient("%s", noBus)
		}
		vars = append(vars, "DBUS_SESSION_BUS_ADDRESS="+bus, "PATH=")
		// a bus may require the cookie of a user
		for _, name := range []string{"HOME", "XDG_RUNTIME_DIR"} {
			vars = append(vars, name+"="+env.Getenv(name))
		}
	} else if env.Environ != nil {
		vars = env.Environ()
	}
	title, body := m.headline()
	in, err := json.Marshal(notification{title, desktopText(body)})
	if err != nil {
		return "", permanent("%s", plain.Line(err.Error())).named(c.Name)
	}
	cmd := exec.CommandContext(ctx, env.Self, DesktopCommand)
	cmd.Env, cmd.Stdin, cmd.WaitDelay = vars, bytes.NewReader(in), leftOpen
	said, err := proc.RunGroup(cmd)
	if err == nil {
		return "Told by " + c.Name + ".", nil
	}
	return "", transient("%s", cmp.Or(strings.TrimPrefix(shownLine(said), userAgent+": "), plain.Line(err.Error()))).named(c.Name)
}

// hasBuses reports whether this system shows notifications through D-Bus.
const hasBuses = runtime.GOOS != "darwin" && runtime.GOOS != "ios" && runtime.GOOS != "windows"

// SessionBus returns the address of the session bus of the user: the one in the environment, or the
// socket where systemd puts it. It is "" when there is none; none is started.
func SessionBus(getenv func(string) string) string {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && address != "autolaunch:" {
		return address
	}
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" || !filepath.IsAbs(dir) {
		return ""
	}
	path := filepath.Join(dir, "bus")
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeSocket == 0 {
		return ""
	}
	// An address escapes all but a few symbols.
	var b strings.Builder
	for i := range len(path) {
		if r := path[i]; strings.IndexByte("-_/.*", r) >= 0 || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			b.WriteByte(r)
			continue
		}
		const hex = "0123456789abcdef"
		b.WriteString("%" + string(hex[path[i]>>4]) + string(hex[path[i]&15]))
	}
	return "unix:path=" + b.String()
}

// desktopText returns a body as desktops take it. They read markup (<b>, links, pictures), so its
// characters are escaped.
func desktopText(text string) string {
	text = plain.Cut(strings.Map(func(r rune) rune {
		if plain.Control(r) && r != '\n' {
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\t", " ")), 1000)
	if !hasBuses {
		return text
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// ShowDesktop runs DesktopCommand: it reads one notification and shows it.
func ShowDesktop(in io.Reader) error {
	var what notification
	if err := json.NewDecoder(io.LimitReader(in, BodyLimit)).Decode(&what); err != nil {
		return err
	}
	return show(what)
}
