// Bench measures ouro-timer beside its peers, in one run, and prints tables: go run ./.ci/bench
//
// -sizes says how many tasks are pending in the second table. An empty -sizes leaves that table
// out, and -small the first one.
//
// The peers are programs of Debian: at (package at), sleep (coreutils) and wait-for-it; and
// wait-on, which npm fetches if it is installed. A figure only means something beside the other
// ones of its line, because machines differ more than ratios.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	starts = 300 // how often each program is started
	adds   = 60
	waits  = 40
)

// before is another build of the program.
var before string

func main() {
	numbers := flag.String("sizes", "10,1000,10000,100000", "numbers of pending tasks")
	aims := flag.Bool("goals", true, "measure what docs/performance.md says is to be reached; takes two minutes")
	small := flag.Bool("small", true, "measure what does not depend on the number of tasks")
	loop := flag.Bool("runner", true, "measure the runner beside its peers; takes three minutes")
	services := flag.Bool("health", true, "measure health-wait beside its peers; takes five minutes")
	lines := flag.Bool("ledger", true, "measure the audit of a million lines; takes a minute")
	flag.StringVar(&before, "before", "", "another `build` of the program, beside which goals are measured that are set so")
	flag.Parse()
	if err := bench(*aims, *small, *loop, *services, *lines, *numbers); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(aims, small, loop, services, lines bool, numbers string) error {
	sizes, err := parseSizes(numbers)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ouro-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ouro, empty := filepath.Join(dir, "ouro-timer"), filepath.Join(dir, "empty")
	os.Setenv("CGO_ENABLED", "0") // as README.md says
	if err := run("go", "build", "-tags", "urfave_cli_no_docs", "-o", ouro, "."); err != nil {
		return err
	}
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	if err := run("go", "build", "-o", empty, source); err != nil {
		return err
	}
	os.Setenv("OURO_HOME", filepath.Join(dir, "home"))
	os.Setenv("TZ", "UTC")
	if aims {
		if err := reach(ouro, empty, dir); err != nil {
			return err
		}
		os.Setenv("OURO_HOME", filepath.Join(dir, "home"))
	}
	if small {
		beside(ouro)
	}
	if loop {
		if err := beats(ouro, dir); err != nil {
			return err
		}
	}
	if services {
		if err := health(ouro, dir); err != nil {
			return err
		}
	}
	if lines {
		if err := auditing(ouro, dir); err != nil {
			return err
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	return scale(ouro, dir, sizes)
}

// parseSizes reads numbers with commas between them.
func parseSizes(text string) (sizes []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-sizes: %q is not a number of tasks", word)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// beside measures what does not depend on the number of tasks.
func beside(ouro string) {
	fmt.Printf("\n%-44s %10s %10s %8s\n", "", "ouro-timer", "peer", "ratio")
	ours, peers := alternate(waits, []string{ouro, "wait", "200ms"}, []string{"sleep", "0.2"})
	for i := range ours {
		ours[i] -= 200
		peers[i] -= 200
	}
	row("wait 200ms / sleep 0.2, beyond 200, ms p50", ours, peers, 50)
	row("  the same, p99", ours, peers, 99)
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// alternate runs two commands in turn and returns how long each took, in milliseconds.
func alternate(n int, a, b []string) (first, second []float64) {
	took := func(words []string) float64 {
		ms, err := once(words, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return ms
	}
	for range n {
		first, second = append(first, took(a)), append(second, took(b))
	}
	return first, second
}

func row(name string, ours, peers []float64, percent int) {
	a, b := at(ours, percent), at(peers, percent)
	fmt.Printf("%-44s %10.2f %10.2f %8.2f\n", name, a, b, a/b)
}

// at returns a percentile.
func at(list []float64, percent int) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)*percent/100, len(list)-1)]
}
