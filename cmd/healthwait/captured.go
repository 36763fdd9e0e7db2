package healthwait

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// commandJSON says how the command ended that was run after the wait.
type commandJSON struct {
	Command  []string   `json:"argv"`
	ExitCode *int       `json:"exit_code,omitempty" jsonschema:"absent: a signal ended it"`
	Signal   *string    `json:"signal,omitempty"`
	Seconds  float64    `json:"seconds" jsonschema:"how long it took"`
	Stdout   streamJSON `json:"stdout"`
	Stderr   streamJSON `json:"stderr"`
}

// streamJSON is the end of what the command wrote to one stream.
type streamJSON struct {
	Text      string `json:"text" jsonschema:"the last 64 KiB of it"`
	Bytes     int64  `json:"bytes"`
	Truncated bool   `json:"truncated,omitempty"`
}

// maxStream is how many bytes from the end of each stream the answer has.
const maxStream = 64 << 10

// tail is a writer that keeps the last bytes.
type tail struct {
	kept  []byte
	bytes int64
}

func (t *tail) Write(b []byte) (int, error) {
	t.bytes += int64(len(b))
	if t.kept = append(t.kept, b...); len(t.kept) > 2*maxStream {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-maxStream:]...)
	}
	return len(b), nil
}

func (t *tail) json() streamJSON {
	kept := t.kept
	if len(kept) > maxStream {
		kept = kept[len(kept)-maxStream:]
	}
	return streamJSON{strings.ToValidUTF8(string(kept), "\uFFFD"), t.bytes, int64(len(kept)) < t.bytes}
}

// commandGrace is how long the command has between TERM and KILL when the call ends.
const commandGrace = 10 * time.Second

// runCaptured runs the command and keeps its output. It returns when the command has ended and its
// streams are closed, or half a second after its end when another process holds them open. When ctx
// ends it ends the process group by TERM and KILL.
func (o *healthWait) runCaptured(ctx context.Context, s *cli.Call) (*commandJSON, error) {
	spec := proc.Spec{Argv: append([]string{o.program}, o.argv[1:]...), Env: s.Environ(), Umask: -1}
	spec.Stdin, _ = s.In.(*os.File)
	var texts [2]tail
	var readers [2]*os.File
	var reading sync.WaitGroup
	for i, to := range []**os.File{&spec.Stdout, &spec.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		defer w.Close()
		readers[i], *to = r, w
	}
	child, err := proc.Start(spec)
	if err != nil {
		return nil, notStarted(err)
	}
	spec.Stdout.Close()
	spec.Stderr.Close()
	for i, r := range readers {
		reading.Go(func() { _, _ = io.Copy(&texts[i], r) })
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		_ = child.SignalGroup(syscall.SIGTERM) // an error means that the command has ended
		select {
		case <-ended:
		case <-time.After(commandGrace):
			_ = child.SignalGroup(syscall.SIGKILL)
		}
	}()
	result := child.Wait()
	close(ended)
	read := make(chan struct{})
	go func() { reading.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(500 * time.Millisecond):
		for _, r := range readers {
			r.Close()
		}
		<-read
	}
	j := &commandJSON{Command: o.argv, Signal: cli.OrNull(result.Signal),
		Seconds: cli.Seconds(result.Ended.Sub(result.Started)), Stdout: texts[0].json(), Stderr: texts[1].json()}
	if result.Signal == "" {
		j.ExitCode = &result.ExitCode
	}
	return j, nil
}

// code returns the exit code of the command, or for a signal the code of a shell.
func (j *commandJSON) code() error {
	switch {
	case j.ExitCode == nil:
		if sig, known := cli.SignalNamed(*j.Signal); known {
			return cli.ExitCode(128 + int(sig))
		}
		return cli.ExitCode(cli.ExitFailed)
	case *j.ExitCode != 0:
		return cli.ExitCode(*j.ExitCode)
	}
	return nil
}
