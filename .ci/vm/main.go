// Command vm runs ouro-timer on a machine of QEMU, and looks at what it does when the power is cut,
// when its clock is set, and when it sleeps. The machine says on its serial line what happens:
// init.sh has its side. See run, which calls this.
package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed init.sh
var initScript []byte

var (
	folder = flag.String("folder", "", "where the program and the folder of the kernel's package are")
	cuts   = flag.Int("cuts", 8, "how often the power is cut")
	mkfs   = flag.String("mkfs", "", "options of mkfs.ext4")
	mount  = flag.String("mount", "", "options of mount")
)

// mostShown is how much of what is wrong is printed.
const mostShown = 10

func main() {
	flag.Parse()
	os.Exit(run(flag.Args()))
}

// run checks what is named, or all of it, and returns the exit code.
func run(plays []string) int {
	checks := map[string]func() (string, []string){"clock": checkClock, "sleep": checkSleep, "power": checkPower}
	if len(plays) == 0 {
		plays = []string{"clock", "sleep", "power"}
	}
	for _, play := range plays {
		if checks[play] == nil {
			fmt.Fprintf(os.Stderr, "vm: there is no %q; there are clock, sleep and power\n", play)
			return 2
		}
	}
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "vm:", err)
		return 1
	}
	code := 0
	for _, play := range plays {
		seen, wrong := checks[play]()
		fmt.Printf("%s: %s\n", play, seen)
		for _, w := range wrong[:min(len(wrong), mostShown)] {
			fmt.Printf("%s: WRONG: %s\n", play, w)
		}
		if more := len(wrong) - mostShown; more > 0 {
			fmt.Printf("%s: WRONG: %d more\n", play, more)
		}
		if len(wrong) > 0 {
			code = 1
		}
	}
	return code
}

// prepare makes the first file system of the machine.
func prepare() error {
	root := filepath.Join(*folder, "root")
	script := `
set -e
cd "$1"
mkdir -p root/bin root/proc root/sys root/dev root/tmp root/root root/etc root/modules
cp "$(command -v busybox)" root/bin/busybox
for name in $(busybox --list | grep -vx busybox); do ln -sf busybox "root/bin/$name"; done
cp ouro-timer root/bin/ouro-timer
cp "$(ls kernel/boot/vmlinuz-*)" vmlinuz
for name in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do
	cp "$(find kernel -name "$name.ko")" root/modules/
done
echo 'root:x:0:0:root:/root:/bin/sh' > root/etc/passwd
chmod 755 root/init
cd root && find . | cpio --quiet -o -H newc | gzip -1 > ../initramfs`
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "init"), initScript, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", script, "sh", *folder)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// event is what the machine says: a line without its @, in words.
type event []string

func (e event) is(words ...string) bool {
	return len(e) >= len(words) && slices.Equal(e[:len(words)], words)
}

// play runs the machine until it ends, or for a time after it has begun, and then cuts its power.
func play(name string, limit time.Duration) (events []event, err error) {
	cmd := exec.Command("qemu-system-x86_64", "-m", "512", "-nographic", "-no-reboot", "-accel", "tcg", "-smp", "1", "-rtc", "base=utc",
		"-kernel", filepath.Join(*folder, "vmlinuz"), "-initrd", filepath.Join(*folder, "initramfs"),
		"-append", fmt.Sprintf("console=ttyS0 quiet panic=-1 no_timer_check no_console_suspend play=%s mount=%s", name, *mount),
		"-drive", "if=virtio,format=raw,cache=unsafe,file="+filepath.Join(*folder, "disk"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	longest := time.AfterFunc(10*time.Minute, func() { cmd.Process.Kill() })
	defer longest.Stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	ended := limit > 0
	for lines.Scan() {
		_, text, ok := strings.Cut(strings.TrimRight(lines.Text(), "\r"), "@")
		if !ok {
			continue
		}
		e := event(strings.Fields(text))
		events = append(events, e)
		switch {
		case e.is("begun") && limit > 0:
			time.AfterFunc(limit, func() { cmd.Process.Kill() })
		case e.is("done"):
			ended = true
		case e.is("failed"):
			err = fmt.Errorf("the machine %s", text)
		}
	}
	cmd.Wait()
	if !ended && err == nil {
		err = fmt.Errorf("the machine did not come to its end")
	}
	return events, err
}

// disk makes an empty disk.
func disk() error {
	path := filepath.Join(*folder, "disk")
	os.Remove(path)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(path, 300<<20); err != nil {
		return err
	}
	return exec.Command("mkfs.ext4", append(append([]string{"-q", "-F"}, strings.Fields(*mkfs)...), path)...).Run()
}

// mend does to the disk what a machine does when it starts after a loss of power.
func mend() error {
	err := exec.Command("e2fsck", "-p", filepath.Join(*folder, "disk")).Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == 1 { // mended
		return nil
	}
	return err
}

// findings collects what is wrong.
type findings []string

func (f *findings) unless(ok bool, format string, a ...any) {
	if !ok {
		*f = append(*f, fmt.Sprintf(format, a...))
	}
}

// waited looks at the waits for a length of time: each has to last as long, asleep or not, and no
// clock that is set moves its end.
func (f *findings) waited(e event) {
	long, err := strconv.ParseFloat(e[1], 64)
	if err != nil {
		return // until an instant
	}
	from, _ := strconv.ParseFloat(e[3], 64)
	to, _ := strconv.ParseFloat(e[4], 64)
	f.unless(e[2] == "0" && to-from >= long, "wait %ss took %.2f s and exited with %s", e[1], to-from, e[2])
}

// balanced looks at the answer of log --audit.
func (f *findings) balanced(e event) {
	var audit struct{ Balanced bool }
	json.Unmarshal([]byte(strings.Join(e[1:], " ")), &audit)
	f.unless(audit.Balanced, "the audit is not balanced: %s", strings.Join(e[1:], " "))
}

// checkClock plays a clock that is set. Nothing may run early or twice, and what the clock passes
// over runs at once.
func checkClock() (string, []string) {
	var f findings
	err := disk()
	f.unless(err == nil, "%v", err)
	events, err := play("clock", 0)
	f.unless(err == nil, "%v", err)
	ran, phase := map[string]string{}, "start"
	for _, e := range events {
		switch {
		case e.is("set"):
			phase = strings.Join(e[1:], " ")
		case e.is("ran"):
			name := e[len(e)-1]
			f.unless(ran[name] == "", "%s ran twice: %s and %s", name, ran[name], phase)
			ran[name] = phase
		case e.is("waited", "until"):
			f.unless(e[2] == "0" && phase == "forward" && e[3] == "13", "wait --until 13:00 ended with %s at %s o'clock, %s", e[2], e[3], phase)
		case e.is("waited"):
			f.waited(e)
		case e.is("audit"):
			f.balanced(e)
		}
	}
	for _, name := range []string{"one", "thirty", "daily"} {
		f.unless(ran[name] == "forward", "%s ran in %q, and not when the clock was set over it", name, ran[name])
	}
	f.unless(len(ran) > 6, "only %d runs", len(ran))
	return fmt.Sprintf("%d runs while the clock was set forward, back, back by hours, and right again", len(ran)), f
}

// checkSleep plays a machine that sleeps. Waits count the time asleep, and what fell due runs when
// it wakes.
func checkSleep() (string, []string) {
	var f findings
	err := disk()
	f.unless(err == nil, "%v", err)
	events, err := play("sleep_", 0)
	f.unless(err == nil, "%v", err)
	ran := map[string]int{}
	for _, e := range events {
		switch {
		case e.is("ran"):
			ran[e[1]]++
		case e.is("waited"):
			f.waited(e)
		case e.is("audit"):
			f.balanced(e)
		}
	}
	f.unless(ran["fifteen"] == 1 && ran["sixty"] == 1, "the two tasks ran %v times", ran)
	return fmt.Sprintf("%d tasks that fell due asleep and after it", len(ran)), f
}

// checkPower cuts the power again and again. What was confirmed is there and has one outcome, and
// nothing has run twice.
func checkPower() (string, []string) {
	var f findings
	err := disk()
	f.unless(err == nil, "%v", err)
	var events []event
	for range *cuts {
		f.unless(mend() == nil, "the disk could not be mended")
		some, err := play("power", 4*time.Second+rand.N(10*time.Second))
		f.unless(err == nil, "%v", err)
		events = append(events, some...)
	}
	f.unless(mend() == nil, "the disk could not be mended")
	rest, err := play("after", 0)
	f.unless(err == nil, "%v", err)

	var made, removed []string
	runs, outcomes, pending := map[string]int{}, map[string][]string{}, map[string]bool{}
	for _, e := range append(events, rest...) {
		switch {
		case e.is("made") && len(e) == 2:
			made = append(made, e[1])
		case e.is("removed") && len(e) == 2:
			removed = append(removed, e[1])
		case e.is("ran") && len(e) == 2:
			runs[e[1]]++
		case e.is("audit"):
			f.balanced(e)
		case e.is("line"):
			var log struct {
				Log []struct{ ID, TaskID, Outcome string }
			}
			text := strings.ReplaceAll(strings.Join(e[1:], " "), `"task_id"`, `"taskid"`)
			f.unless(json.Unmarshal([]byte(text), &log) == nil, "the log cannot be read: %.80s", text)
			for _, l := range log.Log {
				outcomes[l.TaskID] = append(outcomes[l.TaskID], l.Outcome)
				if l.ID != "" {
					outcomes[l.ID] = append(outcomes[l.ID], l.Outcome)
				}
			}
		case e.is("task"):
			var list struct {
				Tasks []struct{ ID, State string }
			}
			f.unless(json.Unmarshal([]byte(strings.Join(e[1:], " ")), &list) == nil, "the list cannot be read")
			for _, t := range list.Tasks {
				pending[t.ID] = t.State == "pending" || t.State == "running"
			}
		}
	}
	ended := func(id string) bool { return slices.ContainsFunc(outcomes[id], func(o string) bool { return o != "" }) }
	for _, id := range made {
		gone := slices.Contains(removed, id)
		f.unless(len(outcomes[id]) > 0, "%s was confirmed, and the ledger does not have it", id)
		f.unless(gone || pending[id] || ended(id), "%s was confirmed, and has neither come nor will", id)
		f.unless(!gone || !ended(id), "%s was removed, and has an outcome", id)
	}
	for id, n := range runs {
		f.unless(n == 1, "%s ran %d times", id, n)
		f.unless(ended(id), "%s ran, and has no outcome", id)
	}
	return fmt.Sprintf("%d cuts, %d tasks confirmed, %d removed, %d runs seen", *cuts, len(made), len(removed), len(runs)), f
}
