package service

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBarred: a folder that the user may not enter, or one in the state that is another's, is named with what mends it. Where lists of access may say
// otherwise, and where the manager mends it itself, nothing is said.
func TestBarred(t *testing.T) {
	base := t.TempDir()
	for dir := base; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) { // as everybody may enter what is above
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	mine, group := os.Getuid(), os.Getgid()
	someone := Account{Name: "backup", UID: 54321, Groups: []int{54321}}
	if open := (Plan{Program: "/usr/bin/ouro-timer"}).Barred(someone, filepath.Join(base, "x")); open.Why != 0 {
		t.Skipf("%s is closed to others", open.Path)
	}
	for _, c := range []struct {
		name    string
		modes   string // of lib, lib/ouro-timer and lib/ouro-timer/timers; empty: it is not there
		manager string
		who     Account
		want    string // the folder below base, and what to type
		why     Barring
		program string
	}{
		{"all is open", "711 700", "openrc", someone, "", 0, ""},
		{"nothing is there yet", "711", "runit", someone, "", 0, ""},
		{"not even the folder above", "", "runit", someone, "", 0, ""},
		{"others may not enter it", "750", "systemd", someone, "lib chmod o+x", AboveState, ""},
		{"others may not enter it, and something is there", "750 700 700", "openrc", someone, "lib chmod o+x", AboveState, ""},
		{"the owner may not enter it", "611", "systemd", Account{"me", mine, []int{group}}, "lib chmod u+x", AboveState, ""},
		{"its group may not enter it", "701", "systemd", Account{"us", 54321, []int{group}}, "lib chmod g+x", AboveState, ""},
		{"its group may enter it", "710", "systemd", Account{"us", 54321, []int{54321, group}}, "", 0, ""},
		{"runit knows the first group alone", "710", "runit", Account{"us", 54321, []int{54321, group}}, "lib chmod o+x", AboveState, ""},
		{"root enters everything", "600", "systemd", Account{"root", 0, nil}, "", 0, ""},
		{"what is in it is another's", "711 700 700", "openrc", someone, "lib/ouro-timer/timers chown -R backup", InState, ""},
		{"what is in it is another's, and systemd gives it away", "711 700 700", "systemd", someone, "", 0, ""},
		{"what is in it is ours", "711 700 700", "runit", Account{"me", mine, []int{group}}, "", 0, ""},
		{"the program is out of reach", "711", "systemd", someone, "bin", AboveProgram, "bin/ouro-timer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if mine == 0 && strings.HasPrefix(c.name, "the owner") {
				t.Skip("root enters everything")
			}
			t.Cleanup(func() {
				for _, dir := range []string{"lib", "bin"} {
					os.Chmod(filepath.Join(base, dir), 0o700)
					if err := os.RemoveAll(filepath.Join(base, dir)); err != nil {
						t.Error(err)
					}
				}
			})
			places := []string{"lib", "lib/ouro-timer", "lib/ouro-timer/timers"}
			modes := strings.Fields(c.modes)
			for i := range modes {
				if err := os.Mkdir(filepath.Join(base, places[i]), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for i, mode := range slices.Backward(modes) {
				bits := os.FileMode(0)
				for _, digit := range mode {
					bits = bits<<3 | os.FileMode(digit-'0')
				}
				if err := os.Chmod(filepath.Join(base, places[i]), bits); err != nil {
					t.Fatal(err)
				}
			}
			p := Plan{Manager: c.manager, Program: "/usr/bin/ouro-timer"}
			if c.program != "" {
				p.Program = filepath.Join(base, c.program)
				if err := os.Mkdir(filepath.Dir(p.Program), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			got := p.Barred(c.who, filepath.Join(base, "lib", "ouro-timer"))
			var want Bar
			if dir, mend, some := strings.Cut(c.want, " "); dir != "" {
				want = Bar{Path: filepath.Join(base, dir), Why: c.why}
				if some && c.why == InState {
					want.Mend = append(strings.Fields(mend), filepath.Join(base, "lib", "ouro-timer"))
				} else if some {
					want.Mend = append(strings.Fields(mend), want.Path)
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	t.Run("a list of access may say otherwise", func(t *testing.T) {
		lib := filepath.Join(base, "lib")
		if err := os.Mkdir(lib, 0o700); err != nil {
			t.Fatal(err)
		}
		// version 2; the owner rwx, user 54321 --x, the group ---, the mask --x, others ---
		list := []byte{2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 1, 0, 0x31, 0xd4, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255, 0x10, 0, 1, 0, 255, 255, 255, 255, 0x20, 0, 0, 0, 255, 255, 255, 255}
		if err := unix.Setxattr(lib, "system.posix_acl_access", list, 0); errors.Is(err, unix.ENOTSUP) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		if got := (Plan{Manager: "runit", Program: "/usr/bin/ouro-timer"}).Barred(someone, filepath.Join(lib, "ouro-timer")); got.Why != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestAccountOf knows who calls, by his groups, too, and nobody whom the system does not know.
func TestAccountOf(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	a, ok := AccountOf(me.Username)
	if !ok || a.UID != os.Getuid() || len(a.Groups) == 0 {
		t.Errorf("%+v, %v", a, ok)
	}
	if a, ok := AccountOf("nobody.of.that.name"); ok {
		t.Errorf("%+v", a)
	}
}
