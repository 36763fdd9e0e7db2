package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// BenchmarkAtStdin schedules 10,000 tasks in one call of at --stdin jsonl, as many a second as it says. With OURO_BENCH_DIR the
// state is kept there: what a disk takes to make them durable differs a lot from one to the next.
func BenchmarkAtStdin(b *testing.B) {
	const n = 10_000
	for _, kind := range []struct{ name, form string }{
		{"plain", `{"when":"in %[1]d minutes","command":["true","%[1]d"],"description":"job %[1]d"}` + "\n"},
		{"keyed", `{"when":"in %[1]d minutes","command":["true","%[1]d"],"description":"job %[1]d","key":"job-%[1]d"}` + "\n"},
	} {
		b.Run(kind.name, func(b *testing.B) {
			var in bytes.Buffer
			for i := range n {
				fmt.Fprintf(&in, kind.form, i+60)
			}
			for range b.N {
				dir := os.Getenv("OURO_BENCH_DIR")
				if dir == "" {
					dir = b.TempDir()
				}
				home, err := os.MkdirTemp(dir, "bench")
				if err != nil {
					b.Fatal(err)
				}
				w := cli.Real()
				var said bytes.Buffer
				w.In, w.Out, w.Err = bytes.NewReader(in.Bytes()), io.Discard, &said
				w.Getenv = func(name string) string {
					return map[string]string{"OURO_HOME": filepath.Join(home, "ouro"), "OURO_AUTOSTART": "0", "TZ": "Europe/Warsaw", "PATH": os.Getenv("PATH")}[name]
				}
				if code := Main([]string{"ouro-timer", "at", "--stdin", "jsonl", "--json"}, w); code != cli.ExitOK {
					b.Fatalf("exit %d: %s", code, said.String())
				}
				b.StopTimer()
				if err := os.RemoveAll(home); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}
