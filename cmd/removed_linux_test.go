package cmd

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// runner starts a runner in the foreground, and returns what waits for its end. It returns once
// the runner has the lock.
func (c caller) runner(args ...string) (wait func() (stderr string, code int)) {
	c.t.Helper()
	cmd := exec.Command(c.self)
	cmd.Args, cmd.Env, cmd.Dir = append([]string{"ouro-timer", "run"}, args...), c.env(), "/"
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.until("the runner", hasWords(fmt.Sprintf("pid %d", cmd.Process.Pid)), "run", "--status")
	return func() (string, int) {
		_ = cmd.Wait() // the exit code says it
		return errs.String(), cmd.ProcessState.ExitCode()
	}
}

// left is what there is of a state folder.
func (c caller) left() (files, folders []string) {
	_ = filepath.WalkDir(c.home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // there is nothing
		case d.IsDir():
			folders = append(folders, path)
		default:
			files = append(files, path)
		}
		return nil
	})
	return files, folders
}

// What is removed below a living runner stays removed. It ends, and says why. What it was about to
// write when the folder was being removed may still come into a folder, and rm then fails; what was
// removed of that does not come back, either.
func TestRemovedBelowARunner(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c, _ := newCaller(t)
			c.wants(cli.ExitOK, "", "at", "every 1s", "-q", "--", "true")
			wait := c.runner()
			c.until("an outcome", hasWords("ok"), "log")
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond) // any moment: it decides nothing
			said, err := exec.Command("rm", "-rf", c.home).CombinedOutput()
			errs, code := wait()
			if code != cli.ExitState || !strings.Contains(errs, "removed or replaced") {
				t.Errorf("exit %d: %s", code, errs)
			}
			files, folders := c.left()
			for _, f := range folders {
				inUse := false
				for _, file := range files {
					inUse = inUse || strings.HasPrefix(file, f+"/")
				}
				if !inUse && filepath.Dir(f) != filepath.Join(c.home, "runs", "output") {
					t.Errorf("%s was made; rm: %v %s; there are %q and %q", f, err, said, folders, files)
				}
			}
			if err == nil && len(files)+len(folders) > 0 {
				t.Errorf("there are again %q and %q", folders, files)
			}
		})
	}
}

// Whoever removes the folders one by one finds none there that the runner has made again meanwhile.
func TestRemovedPieceByPiece(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"timers/paused", "runs/open", "runs/outbox", "timers"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			for { // until it took so little that nobody would have made anything
				c, _ := newCaller(t)
				c.wants(cli.ExitOK, "", "at", "every 1h", "-q", "--", "true")
				wait := c.runner()
				begun := time.Now()
				remove := func(place string) {
					if err := os.RemoveAll(filepath.Join(c.home, place)); err != nil {
						t.Error(err)
					}
				}
				remove(first)
				time.Sleep(100 * time.Millisecond) // for a runner that makes it at once
				_, err := os.Stat(filepath.Join(c.home, first))
				took := time.Since(begun)
				remove("runs")
				remove(".")
				if errs, code := wait(); code != cli.ExitState || !strings.Contains(errs, "removed or replaced") {
					t.Errorf("exit %d: %s", code, errs)
				}
				if files, folders := c.left(); len(files)+len(folders) > 0 {
					t.Errorf("there are again %q and %q", folders, files)
				}
				if took > time.Second {
					continue
				}
				if err == nil {
					t.Errorf("%s was made again at once", first)
				}
				return
			}
		})
	}
}
