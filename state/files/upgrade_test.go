package files

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// testdata/upgrade has state folders as the version before runs/commits has left them when it was killed in the middle of a change, or the power
// went then: made by the tests of that version (c808651), and not to be made again. Of each it says what that version itself then showed.

// killed is such a folder.
type killed struct {
	Name  string            `json:"name"`
	Power bool              `json:"power"` // the machine was started anew
	Dirs  []string          `json:"dirs"`  // parents first; none: all that this version makes
	Files map[string]string `json:"files"`
	View  string            `json:"view"` // what dump makes of it
	Next  uint64            `json:"next"` // the number of the ID that it gave out next
}

func (k killed) folder() folder {
	f := folder{dirs: k.Dirs, files: map[string][]byte{}}
	if f.dirs == nil {
		f.dirs = []string{""}
		for _, dir := range folders {
			f.dirs = append(f.dirs, "/"+dir)
		}
	}
	for place, text := range k.Files {
		f.files[place] = []byte(text)
	}
	return f
}

// killedBoot is the boot of the machine that those folders were written under.
func killedBoot() string { return "6e8a9b1c-0d2f-4a3b-8c5d-7e6f5a4b3c2d" }

func readKilled(t *testing.T) (list []killed) {
	t.Helper()
	files := must[[]string](t)(filepath.Glob("testdata/upgrade/*.json"))
	if more := os.Getenv("OURO_TEST_UPGRADE"); more != "" { // many more of them, as that version's tests have made them
		files = append(files, more)
	}
	for _, file := range files {
		var some []killed
		if err := json.Unmarshal(must[[]byte](t)(os.ReadFile(file)), &some); err != nil {
			t.Fatal(file, err)
		}
		list = append(list, some...)
	}
	return list
}

// asThen is a dump without what that version did not show.
func asThen(text string) string {
	for _, r := range []struct{ old, new string }{
		{` First:.*} open`, "} open"},
		{`(?m)^(item .*) "[^"]*" "[^"]*"$`, "$1"},
		{`(?m)^(notice .* "[^"]*") "[^"]*" "[^"]*"$`, "$1"},
		{`(?m)^((?:task|occurrence|manual|delivery) .*?) "([^"]*)" "[^"]*" `, "$1 $2 "},
	} {
		text = regexp.MustCompile(r.old).ReplaceAllString(text, r.new)
	}
	return text
}

// TestUpgrade: what a version before runs/commits has left unfinished is finished as it would have been: the same tasks, claims, tallies and
// mail, the same ledger, nothing twice and nothing lost; IDs go on; and it stays so after the next start of the machine.
func TestUpgrade(t *testing.T) {
	list := readKilled(t)
	if len(list) < 40 {
		t.Fatalf("only %d folders", len(list))
	}
	at := filepath.Join(scratch(t), "state")
	for _, k := range list {
		t.Run(k.Name, func(t *testing.T) {
			boot := killedBoot
			if k.Power {
				boot = func() string { return "another" }
			}
			reopen := func() *Store {
				return must[*Store](t)(Open(at, Options{disk: lazyDisk{}, Limits: few, boot: boot}))
			}
			k.folder().unpack(t, at)
			s := reopen()
			settle(t, s)
			if strings.HasPrefix(k.Name, "rewind") { // what has ended is not lowered any more: decision 0018
				k.View = strings.Replace(k.View, "LastDue:2026-11-23 07:59:00", "LastDue:2026-11-23 08:00:00", 1)
			}
			got := asThen(dump(t, s))
			if got != k.View {
				t.Fatalf("seen\n%s\nwant\n%s", got, k.View)
			}
			for _, place := range []string{counterFile, journalFile} {
				if _, err := os.Lstat(s.path(place)); !missing(err) {
					t.Errorf("%s is still there", place)
				}
			}
			was := k.Files["/"+ledgerFile]
			was = was[:strings.LastIndexByte(was, '\n')+1]
			if is, err := readFile(s.path(ledgerFile), 1<<30); err != nil && !missing(err) || !strings.HasPrefix(string(is), was) {
				t.Errorf("the ledger had\n%s\nand has\n%s", was, is)
			}
			e := must[state.Entry](t)(s.Add(ctx, once("new"), day2))
			if n, _ := state.IDNumber(e.Task.ID); n != k.Next {
				t.Errorf("the next ID is number %d, want %d", n, k.Next)
			}
			must[state.Entry](t)(s.Remove(ctx, e.Task.ID, day0))
			seen := dump(t, s)
			boot = func() string { return "a third one" }
			s = reopen()
			settle(t, s)
			if again := dump(t, s); again != seen {
				t.Errorf("after a start of the machine\n%s\nbefore\n%s", again, seen)
			}
			keysHold(t, s)
			clean(t, s)
		})
	}
}

// TestReadBeforeUpgrade: who only reads a folder that an earlier version has left, before anybody has written there, sees what that version
// would have shown, too, and changes nothing.
func TestReadBeforeUpgrade(t *testing.T) {
	at := filepath.Join(scratch(t), "state")
	for _, k := range readKilled(t) {
		k.folder().unpack(t, at)
		before := fmt.Sprint(pack(t, at))
		s := must[*Store](t)(Open(at, Options{disk: lazyDisk{}, boot: killedBoot}))
		seen := map[string]bool{}
		list, _, err := state.All(ctx, s)
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		for _, e := range list {
			if seen[e.Task.ID] {
				t.Errorf("%s: %s is listed twice", k.Name, e.Task.ID)
			}
			seen[e.Task.ID] = true
		}
		if after := fmt.Sprint(pack(t, at)); after != before {
			t.Errorf("%s: reading it has changed it", k.Name)
		}
	}
}
