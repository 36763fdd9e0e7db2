package notify

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ouro-timer/ouro-timer/state"
)

// pty is a terminal of this test's own: the side of the program that draws it, and its name.
func pty(t *testing.T) (*os.File, string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no terminal can be had here: ", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, fmt.Sprintf("/dev/pts/%d", n)
}

func TestTerminalsThatTakeMessages(t *testing.T) {
	_, device := pty(t)
	for mode, want := range map[os.FileMode]int{0o620: 1, 0o600: 0, 0o666: 1, 0o602: 0} {
		if err := os.Chmod(device, mode); err != nil {
			t.Fatal(err)
		}
		if got := terminals(device); len(got) != want {
			t.Errorf("mode %o: %v", mode, got)
		}
	}
	if got := terminals(os.DevNull); len(got) > 0 {
		t.Errorf("%v", got)
	}
	file := t.TempDir() + "/file"
	os.WriteFile(file, nil, 0o666)
	if got := terminals(file); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestTerminal(t *testing.T) {
	master, device := pty(t)
	if err := os.Chmod(device, 0o620); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var b strings.Builder
		buf := make([]byte, 4096)
		for !strings.Contains(b.String(), "end") {
			n, err := unix.Read(int(master.Fd()), buf)
			if n > 0 {
				b.Write(buf[:n])
			}
			if err != nil && err != unix.EAGAIN && err != unix.EIO {
				break
			}
			time.Sleep(time.Millisecond)
		}
		read <- b.String()
	}()
	m := Message{Subject: "S", Body: "a\x1b]0;title\a\n\xe2\x80\xae\tend"}
	detail, err := Send(t.Context(), state.Channel{Name: "terminal", Type: TTY, To: device}, m, outside(nil))
	if err != nil || detail != "Told by terminal: "+device+"." {
		t.Fatal(detail, err)
	}
	if got := <-read; strings.ReplaceAll(got, "\r\r", "\r") != "\a\r\nS: a]0;title end\r\n" {
		t.Errorf("%q", got)
	}
}

// TestTerminalThatTakesNothing: nobody reads it, its buffer is full. It is given up, and soon.
func TestTerminalThatTakesNothing(t *testing.T) {
	_, device := pty(t)
	if err := os.Chmod(device, 0o620); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(device, os.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The kernel moves what is written on to the other side a little later, until that is full too.
	for full := 0; full < 10; {
		if _, err := unix.Write(int(f.Fd()), []byte("x")); err == nil {
			full = 0
		} else {
			full++
			time.Sleep(5 * time.Millisecond)
		}
	}
	_, err = Send(t.Context(), state.Channel{Name: "terminal", Type: TTY, To: device}, Message{Body: "x"}, outside(nil))
	if e := fault(t, err); e.Permanent || !strings.Contains(e.Text, device+" takes no output") {
		t.Errorf("%+v", e)
	}
}

// TestTerminalWithMessagesOff: a terminal that was named is asked like every other, see mesg(1).
func TestTerminalWithMessagesOff(t *testing.T) {
	master, device := pty(t)
	if err := os.Chmod(device, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Send(t.Context(), state.Channel{Name: "terminal", Type: TTY, To: device}, Message{Body: "x"}, outside(nil))
	if e := fault(t, err); e.Permanent || e.Text != "terminal: "+device+" takes no messages; mesg y there allows them" {
		t.Errorf("%+v", e)
	}
	if err := Terminal(device, "x"); err == nil || !strings.Contains(err.Error(), "mesg y") {
		t.Error(err)
	}
	channel := state.Channel{Name: "terminal", Type: TTY, To: device}
	if _, err := Ready(channel, outside(nil)); err == nil || err.Error() != device+" takes no messages; mesg y there allows them" {
		t.Errorf("ready: %v", err)
	}
	if err := os.Chmod(device, 0o620); err != nil {
		t.Fatal(err)
	}
	if _, err := Ready(channel, outside(nil)); err != nil {
		t.Errorf("with messages on: %v", err)
	}
	if n, err := unix.Read(int(master.Fd()), make([]byte, 100)); n > 0 {
		t.Errorf("%d bytes were written, %v", n, err)
	}
	if err := CheckTerminal(device); err != nil { // it may take them again until then
		t.Error(err)
	}
}

func TestCheckTerminal(t *testing.T) {
	_, device := pty(t)
	if err := CheckTerminal(device); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "bob", "/dev/null", "/dev/pts/ptmx", "/dev/tty", "/dev/pts/99999", "/dev/pts/../mem", "/dev/tty-of-nobody", t.TempDir()} {
		refused := func(err error) bool {
			return slices.ContainsFunc([]string{"not a terminal", "there is no terminal", "another user's"}, func(why string) bool { return strings.Contains(err.Error(), why) })
		}
		if err := CheckTerminal(name); err == nil || !refused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTerminalNames(t *testing.T) {
	for _, name := range []string{"/dev/null", "/dev/mem", "/dev/pts/../mem", "/etc/passwd", "pts/3", "/dev/pts/", "/dev/tty/../mem", "/dev/tty", "/dev/pts/ptmx"} {
		_, err := Send(t.Context(), state.Channel{Name: "terminal", Type: TTY, To: name}, Message{Body: "x"}, outside(nil))
		if e := fault(t, err); !e.Permanent || !strings.Contains(e.Text, "is not a terminal") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	_, err := Send(t.Context(), state.Channel{Name: "terminal", Type: TTY, To: "/dev/pts/99999"}, Message{Body: "x"}, outside(nil))
	if e := fault(t, err); e.Permanent || !strings.Contains(e.Text, "no such file") {
		t.Errorf("%+v", e)
	}
}

func TestSessionBus(t *testing.T) {
	dir := t.TempDir() + "/a b"
	os.Mkdir(dir, 0o700)
	vars := map[string]string{"XDG_RUNTIME_DIR": dir}
	getenv := func(name string) string { return vars[name] }
	if got := SessionBus(getenv); got != "" {
		t.Errorf("without a socket: %q", got)
	}
	os.WriteFile(dir+"/bus", nil, 0o600)
	if got := SessionBus(getenv); got != "" {
		t.Errorf("a plain file: %q", got)
	}
	os.Remove(dir + "/bus")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: dir + "/bus"}); err != nil {
		t.Fatal(err)
	}
	if got := SessionBus(getenv); !strings.HasPrefix(got, "unix:path=/") || !strings.HasSuffix(got, "/a%20b/bus") {
		t.Errorf("%q", got)
	}
	vars["DBUS_SESSION_BUS_ADDRESS"] = "autolaunch:"
	if got := SessionBus(getenv); !strings.HasSuffix(got, "/bus") {
		t.Errorf("%q", got)
	}
	vars["DBUS_SESSION_BUS_ADDRESS"] = "unix:abstract=x"
	if got := SessionBus(getenv); got != "unix:abstract=x" {
		t.Errorf("%q", got)
	}
}
