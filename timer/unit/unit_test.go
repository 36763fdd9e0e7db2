package unit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// files is a Disk of texts by their paths.
type files map[string]string

func (f files) disk() Disk {
	return Disk{
		Read: func(path string) (string, error) {
			if text, has := f[path]; has {
				return text, nil
			}
			return "", fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
		},
		Glob: func(pattern string) (list []string) {
			for path := range f {
				if ok, _ := filepath.Match(pattern, path); ok {
					list = append(list, path)
				}
			}
			slices.Sort(list)
			return list
		},
	}
}

func TestRead(t *testing.T) {
	list, ignored, err := Read("\ufeff# c\r\n[Unit]\r\nA = 1\r\n; c\n\n[Service]\nE=one \\\n# between\n  two \\\n\nB=\nno setting\nX=a=b # not taken off\n", "x.service")
	want := []Setting{{"x.service", 3, "Unit", "A", "1"}, {"x.service", 7, "Service", "E", "one  two"}, {"x.service", 11, "Service", "B", ""}, {"x.service", 13, "Service", "X", "a=b # not taken off"}}
	if err != nil || !reflect.DeepEqual(list, want) || len(ignored) != 1 || ignored[0].Value != "no setting" || ignored[0].Line != 12 {
		t.Errorf("%v\n%v\n%v", list, ignored, err)
	}
	for _, text := range []string{"", "hello\n", "\xff[Timer]\n", "[Timer]\nA=\x00\n", "A=b\n"} {
		if list, _, err := Read(text, "x.timer"); err == nil {
			t.Errorf("%q: %v", text, list)
		}
	}
}

func TestFind(t *testing.T) {
	f := files{
		"/a/x.service": "[Service]\nE=1\nE=2\n", "/a/x.service.d/10.conf": "[Service]\nE=\nE=3\n", "/b/x.service.d/10.conf": "[Service]\nE=hidden\n",
		"/b/x.service.d/20.conf": "[Service]\nE=4\n", "/b/service.d/05.conf": "[Service]\nB=all\n", "/b/t@.service": "[Service]\nE=%i\n", "/b/t@one.service.d/a.conf": "[Service]\nB=1\n",
		"/b/t@.service.d/a.conf": "[Service]\nB=hidden\n", "/b/a-b.service": "[Service]\nE=1\n", "/a/a-.service.d/z.conf": "[Service]\nB=2\n", "/b/broken.service": "none",
	}
	for name, want := range map[string]string{"x.service": "all 3 4", "t@one.service": "all %i 1", "a-b.service": "all 1 2"} {
		u, err := f.disk().Find(name, []string{"/a", "/b"})
		var values []string
		for _, s := range u.Settings {
			values = append(values, s.Value)
		}
		slices.Sort(values)
		have := strings.Fields(want)
		slices.Sort(have)
		if err != nil || !slices.Equal(values, have) || u.Name != name {
			t.Errorf("%s: %q, %v", name, values, err)
		}
	}
	if _, err := f.disk().Find("none.service", []string{"/a"}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := f.disk().Find("broken.service", []string{"/b"}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

var manager = Manager{Home: "/root", User: "root", UID: "0"}

func TestFill(t *testing.T) {
	for _, row := range []struct{ text, name, want string }{
		{"%h/%n %N %p %i|%I %%", "a-b@x-y\\x2dz.timer", "/root/a-b@x-y\\x2dz.timer a-b@x-y\\x2dz a-b x-y\\x2dz|x/y-z %"},
		{"%j %J %P %f %u %U %t %S %C %L %E %T %V 5%", "a-b.timer", "b b a/b /a/b root 0 /run /var/lib /var/cache /var/log /etc /tmp /var/tmp 5%"},
		{"100%.", "a.timer", "100%."},
	} {
		if got, err := manager.Fill(row.text, row.name); got != row.want || err != nil {
			t.Errorf("%s: %q, %v", row.text, got, err)
		}
	}
	own := Manager{Own: true, Home: "/home/b", User: "b", UID: "7"}
	if got, err := own.Fill("%h %u %U %C %E", "a.timer"); got != "/home/b b 7 /home/b/.cache /home/b/.config" || err != nil {
		t.Error(got, err)
	}
	for _, text := range []string{"%b", "%d", "%t", "%S"} {
		if got, err := own.Fill(text, "a.timer"); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
	if _, err := manager.Fill("%i", "a@.timer"); !errors.Is(err, ErrTemplate) {
		t.Error(err)
	}
}

func TestCommands(t *testing.T) {
	env := map[string]string{"A": "one two", "B": "x"}
	for text, want := range map[string]string{
		`/bin/a b  'c d' "e\tf" g\x41\101\u00e9`: `["/bin/a" "b" "c d" "e\tf" "gAAé"]`,
		`-/bin/a $A ${A} x${B}y $$B $C "${C}"`:   `-["/bin/a" "one" "two" "one two" "xxy" "$B" ""]`,
		`:/bin/a $A ${A}`:                        `["/bin/a" "$A" "${A}"]`,
		`/bin/sh -c 'echo $A $(date +%%s)' %n`:   `["/bin/sh" "-c" "echo $A $(date +%s)" "u.service"]`,
		`/bin/a ; -/bin/b \; c`:                  `["/bin/a"]-["/bin/b" ";" "c"]`,
		`a""b 'c'"d"`:                            `["ab" "cd"]`,
		`find -exec {} +`:                        `["find" "-exec" "{}" "+"]`,
	} {
		list, err := manager.Commands(text, "u.service", env)
		got := ""
		for _, c := range list {
			got += map[bool]string{true: "-"}[c.Spared] + fmt.Sprintf("%q", c.Words)
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{``, `+/bin/a`, `@/bin/a b`, `!/bin/a`, `|/bin/a`, `$A b`, `/bin/a "b`, `/bin/a \q`, `/bin/a b\`, `/bin/a $(date)`, `/bin/a ${A:-b}`, `/bin/a ${A`, `/bin/a %b`, `; a`, `/bin/a $INVOCATION_ID`, `/bin/a \x0`} {
		if list, err := manager.Commands(text, "u.service", env); err == nil {
			t.Errorf("%s: %v", text, list)
		}
	}
	got := map[string]string{}
	if err := manager.Pairs(`A=b "C=d e" F='g' H=%n`, "u.service", func(n, v string) { got[n] = v }); err != nil || fmt.Sprint(got) != "map[A:b C:d e F:'g' H:u.service]" && fmt.Sprint(got) != "map[A:b C:d e F:g H:u.service]" {
		t.Error(got, err)
	}
	for _, text := range []string{"A", "# x", "1=2", `A="b`} {
		if manager.Pairs(text, "u.service", func(string, string) {}) == nil {
			t.Error(text)
		}
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "2h 30min": 150 * time.Minute, "2h30min": 150 * time.Minute, "1.5d": 36 * time.Hour, "500ms": 500 * time.Millisecond, "1M": 2_629_800 * time.Second,
		"1m": time.Minute, "1 week": 7 * 24 * time.Hour, "1h 5": time.Hour + 5*time.Second, "0": 0, "1y": 31_557_600 * time.Second,
	} {
		if d, endless, err := Span(text); d != want || endless || err != nil {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	if _, endless, err := Span("infinity"); !endless || err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "x", "5 parsecs", "-1", "1..5", "99999999999999y"} {
		if d, _, err := Span(text); err == nil {
			t.Errorf("%q: %v", text, d)
		}
	}
}

// The rows were answered alike by systemd-analyze 252, but for what a comment says.
func TestEvents(t *testing.T) {
	warsaw, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ text, after, want string }{
		{"Mon..Fri *-*-* 09:00", "2026-11-20 14:00", "11-23 09:00:00, 11-24 09:00:00, 11-25 09:00:00"},
		{"02:30", "2027-03-26 12:00", "03-27 02:30:00, 03-29 02:30:00, 03-30 02:30:00"},
		{"*:0/30", "2027-03-28 01:10", "03-28 01:30:00, 03-28 03:00:00, 03-28 03:30:00"},
		{"*:0/30", "2027-10-31 01:40", "10-31 02:00:00, 10-31 02:30:00, 10-31 03:00:00"},
		{"Mon *-05~07/1", "2026-11-20 14:00", "05-31 00:00:00, 05-29 00:00:00, 05-28 00:00:00"},
		{"*-*~03", "2026-11-20 14:00", "11-28 00:00:00, 12-29 00:00:00, 01-29 00:00:00"},
		{"quarterly", "2026-11-20 14:00", "01-01 00:00:00, 04-01 00:00:00, 07-01 00:00:00"},
		{"Wed, 17:48", "2026-11-20 14:00", "11-25 17:48:00, 12-02 17:48:00, 12-09 17:48:00"},
		{"*-*-* 0..5/2:30 UTC", "2026-11-20 14:00", "11-21 01:30:00, 11-21 03:30:00, 11-21 05:30:00"},
		{"12-24", "2026-11-20 14:00", "12-24 00:00:00, 12-24 00:00:00, 12-24 00:00:00"},
		{"27-10-15 1:2:3", "2026-11-20 14:00", "10-15 01:02:03"},
		{"*:2/7", "2026-11-20 23:50", "11-20 23:51:00, 11-20 23:58:00, 11-21 00:02:00"}, // it leaves out 00:02
	} {
		after, err := time.ParseInLocation("2006-01-02 15:04", row.after, warsaw)
		if err != nil {
			t.Fatal(err)
		}
		e, err := ParseEvent(row.text, warsaw)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		var got []string
		for _, at := range e.Instants(after, after.AddDate(20, 0, 0), 3) {
			got = append(got, at.In(warsaw).Format("01-02 15:04:05"))
		}
		if strings.Join(got, ", ") != row.want {
			t.Errorf("%s: %s", row.text, strings.Join(got, ", "))
		}
	}
	for _, text := range []string{"", "Foo 10:00", "*-13-01", "*:60", "24:00", "Sat..Mon 10:00", "10:00 Mars/Olympus", "*-*-7..1", "*-*-1/0", "1:2:3:4", "*:*:00.5", "Mon..Fri 9 am"} {
		if e, err := ParseEvent(text, warsaw); err == nil {
			t.Errorf("%q: %+v", text, e)
		}
	}
}
