package proc

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestIdentity(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	if self.PID != os.Getpid() || self.Start == 0 || self.Boot == "" || self.PIDNS == "" {
		t.Errorf("something is missing in %+v", self)
	}
	tests := []struct {
		name        string
		change      func(id *Identity)
		alive, here bool
	}{
		{"ourselves", func(*Identity) {}, true, true},
		{"the number was given to another", func(id *Identity) { id.Start++ }, false, true},
		{"another boot", func(id *Identity) { id.Boot = "0" }, false, false},
		{"another namespace", func(id *Identity) { id.PIDNS = "1" }, false, false},
		{"the start is not known", func(id *Identity) { id.Start = 0 }, true, true},
		{"no process", func(id *Identity) { id.PID = 0 }, false, true},
		{"a group", func(id *Identity) { id.PID = -id.PID }, false, true},
		{"a number that is too large", func(id *Identity) { id.PID = 1 << 30 }, false, true},
	}
	for _, tt := range tests {
		id := self
		tt.change(&id)
		if id.Alive() != tt.alive || id.Here() != tt.here {
			t.Errorf("%s: alive %v, here %v; want %v, %v", tt.name, id.Alive(), id.Here(), tt.alive, tt.here)
		}
	}
	if again := must(Self()); again != self {
		t.Errorf("first %+v, then %+v", self, again)
	}
}

func TestShiftOfATimeNamespace(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0,
		"monotonic           0         0\nboottime            0         0\n": 0,
		"monotonic       50000         0\nboottime       100000         0\n": 100000 * userHZ,
		"monotonic           0         0\nboottime          -60 500000000\n": -60*userHZ + userHZ/2,
	} {
		if ticks := int64(parseShift([]byte(text))); ticks != want {
			t.Errorf("%q shifts by %d ticks, want %d", text, ticks, want)
		}
	}
}

func TestIdentityIsSaved(t *testing.T) {
	self := must(Self())
	var back Identity
	if err := json.Unmarshal(must(json.Marshal(self)), &back); err != nil || back != self {
		t.Errorf("JSON makes %+v of %+v: %v", back, self, err)
	}
}

func TestZombieIsNotAlive(t *testing.T) {
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	id := identify(pid)
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if id.Start == 0 || id.Alive() {
		t.Errorf("%+v is alive", id)
	}
	if got, err := Identify(pid); err == nil {
		t.Errorf("it is taken for %+v, which runs", got)
	}
	if err := WaitGone(t.Context(), id); err != nil {
		t.Error(err)
	}
	must(syscall.Wait4(pid, nil, 0, nil))
}

// TestWaitGoneWithoutPidfd: an old kernel looks from time to time.
func TestWaitGoneWithoutPidfd(t *testing.T) {
	saved := pidfdOpen
	t.Cleanup(func() { pidfdOpen = saved })
	pidfdOpen = func(int) (int, error) { return -1, unix.ENOSYS }
	p, dir := startShell(t, "while ! [ -e go ]; do sleep 0.02; done")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := WaitGone(ctx, p.Identity()); err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WaitGone(ctxWithPatience(), p.Identity()); err != nil || p.Identity().Alive() {
		t.Errorf("alive %v, %v", p.Identity().Alive(), err)
	}
}

func TestParseStat(t *testing.T) {
	const rest = " 1 77 77 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 4242 2990080 220 18446744073709551615"
	tests := []struct {
		text  string
		want  stat
		alive bool
	}{
		{"9 (sleep) S" + rest, stat{'S', 77, 3, 4242}, true},
		{"9 (a) R 1 (b c)) D" + rest, stat{'D', 77, 3, 4242}, true},
		{"9 () Z" + rest, stat{'Z', 77, 3, 4242}, true}, // its main thread alone has ended
		{"9 (x) X" + rest, stat{'X', 77, 3, 4242}, false},
		{"9 (z) Z 1 77 77 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 4242", stat{'Z', 77, 1, 4242}, false},
	}
	for _, tt := range tests {
		got, err := parseStat([]byte(tt.text))
		if err != nil || got != tt.want || got.alive() != tt.alive {
			t.Errorf("%q is %+v, alive %v, %v; want %+v, %v", tt.text, got, got.alive(), err, tt.want, tt.alive)
		}
	}
	for _, text := range []string{"", "9", "9 (x", "9 (x)", "9 (x) S", "9 (x) S 1 a" + rest, "no parenthesis at all"} {
		if got, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q is %+v, want an error", text, got)
		}
	}
}
