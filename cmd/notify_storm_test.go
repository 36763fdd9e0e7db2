//go:build unix

package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
)

// flaky is the program of a channel: it fails for three of ten attempts, at random but not for ever, and else notes whom it told. What an
// attempt comes to follows from the occurrence and the number of the attempt.
const flaky = `
id=$(sed 's/^{[^}]*"id":"\([^"]*\)".*/\1/')
name=$(echo "$id" | tr / .)
echo x >>"attempts/$name"
n=$(($(wc -l <"attempts/$name")))
luck=$(echo "$id $n" | cksum)
if [ $n -lt 5 ] && [ $((${luck%% *} % 10)) -lt 3 ]; then echo "out of luck" >&2; exit 1; fi
echo "$id" >>told
`

// TestNotifyStorm tells a thousand messages by a channel that fails three times of ten: each is told, none twice, and what runs beside
// them is as punctual as beside messages that are told nobody. It takes some minutes, as the pauses between attempts are real.
func TestNotifyStorm(t *testing.T) {
	if os.Getenv("OURO_TEST_STORM") == "" {
		t.Skip("takes minutes; OURO_TEST_STORM=1 runs it")
	}
	binary := binaries(t, "1.0.0")[0]
	const messages = 1000
	quiet := stormOf(t, binary, messages, "")
	loud := stormOf(t, binary, messages, "flaky")
	t.Logf("told nobody: %v", quiet)
	t.Logf("told:        %v", loud)
	if len(loud.told) != messages {
		t.Errorf("%d of %d were told", len(loud.told), messages)
	}
	for id, n := range loud.told {
		if n != 1 {
			t.Errorf("%s was told %d times", id, n)
		}
	}
	if loud.lines != messages || loud.waiting > 0 {
		t.Errorf("the ledger has %d deliveries, and %d wait", loud.lines, loud.waiting)
	}
	if share := float64(loud.failed) / float64(loud.attempts); share < 0.2 || share > 0.4 {
		t.Errorf("%d of %d attempts failed", loud.failed, loud.attempts)
	}
	// Generous: other things run on this machine.
	if loud.at(0.5) > quiet.at(0.5)+50*time.Millisecond || loud.at(1) > quiet.at(1)+2*time.Second {
		t.Errorf("what ran beside them was late by %v at the median and %v at the most, and %v and %v without", loud.at(0.5), loud.at(1), quiet.at(0.5), quiet.at(1))
	}
}

// storm is what became of one.
type storm struct {
	late             []time.Duration // of the runs of a task of every second, sorted
	left             int             // instants of it that were not run: a later one stood for them
	told             map[string]int  // how often each occurrence was
	lines            int             // deliveries in the ledger
	waiting          int             // notices that are left
	attempts, failed int
	took             time.Duration
}

func (s storm) at(share float64) time.Duration { return s.late[int(share*float64(len(s.late)-1))] }

func (s storm) String() string {
	return fmt.Sprintf("%d runs (%d were left out), late by %v at the median, %v at 99 %%, %v at the most; %d told by %d attempts of which %d failed, in %v",
		len(s.late), s.left, s.at(0.5), s.at(0.99), s.at(1), len(s.told), s.attempts, s.failed, s.took.Round(time.Second))
}

// stormOf has so many messages told by a channel within a few seconds, by a runner in the background, beside a command every second.
func stormOf(t *testing.T, binary string, messages int, channel string) (s storm) {
	t.Helper()
	work := t.TempDir()
	home := filepath.Join(work, "home")
	for _, dir := range []string{home, filepath.Join(work, "attempts")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	st, err := files.Open(home, files.Options{LockWait: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	program := "cd '" + work + "' || exit 9" + flaky
	config := fmt.Sprintf("[channels.flaky]\ntype = \"exec\"\ncommand = [\"/bin/sh\", \"-c\", %q]\n", program)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) string {
		c := exec.Command(binary, args...)
		c.Dir, c.Env = work, append(os.Environ(), "OURO_HOME="+home, "TZ=UTC", "OURO_AUTOSTART=1")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("ouro-timer %s: %v: %s; the log of the runner:\n%.4000s", strings.Join(args, " "), err, out, read(filepath.Join(home, "runs", "runner.log")))
		}
		return strings.TrimSpace(string(out))
	}
	tidyUp(t, home, work)
	begin := time.Now()
	drafts := make([]state.Draft, messages)
	for i := range drafts {
		due := begin.Add(5*time.Second + time.Duration(i)*10*time.Millisecond)
		drafts[i] = state.Draft{Due: due, Task: state.Task{Created: begin, Text: fmt.Sprintf("message %d", i),
			When: state.Timing{Text: due.Format(time.RFC3339Nano), Kind: "once", Zone: "UTC", Start: begin}}}
		if channel != "" {
			drafts[i].Task.Policy.Notify = []string{channel}
		}
	}
	for _, a := range st.AddAll(t.Context(), drafts) {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	call("at", "every 1s", "--count", "60", "--notify-on", "never", "--", "true")
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		_, pending, err := state.Next(t.Context(), st, time.Time{})
		_, led, e := st.Led(t.Context())
		if err == nil && e == nil && !pending && !led {
			break // a runner in the background stays until nobody waits to be told
		}
		if time.Now().After(end) {
			t.Fatalf("the runner has not ended; its log:\n%.4000s", read(filepath.Join(home, "runs", "runner.log")))
		}
	}
	s.took, s.told = time.Since(begin), map[string]int{}
	if _, _, err := st.Log(t.Context(), "", func(l state.Line) bool {
		switch {
		case l.Type == state.LineDelivery && l.Delivered:
			s.lines++
		case l.Type == state.LineOccurrence && l.Started != nil && l.Text == "":
			s.late = append(s.late, time.Duration(l.Late*float64(time.Second)))
		case l.Type == state.LineOccurrence && l.Text == "":
			s.left += l.Count
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(s.late); len(s.late) < 50 {
		t.Fatalf("%d runs", len(s.late))
	}
	left, _, _, err := st.Outbox(t.Context(), time.Now().Add(48*time.Hour), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.waiting = len(left)
	for _, id := range strings.Fields(read(filepath.Join(work, "told"))) {
		s.told[id]++
	}
	names, err := os.ReadDir(filepath.Join(work, "attempts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		s.attempts += strings.Count(read(filepath.Join(work, "attempts", n.Name())), "x")
	}
	s.failed = s.attempts - len(s.told)
	return s
}
