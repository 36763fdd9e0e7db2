package daemon

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/metrics"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// MetricsCommand is the command metrics.
func MetricsCommand() cli.Command {
	return cli.Command{
		Name: "metrics", Args: "[--textfile <path>]",
		Short: "print numbers for Prometheus: tasks, outcomes, lateness, the runner",
		Long: `
Prints numbers about the tasks and the runner in Prometheus' text format: tasks by state and overdue ones, occurrences by
outcome, histograms of lateness and of how long commands took, what waits in the inbox and to be delivered, whether a
runner lives, and what of the state cannot be read. It changes nothing, and no text of a task or a channel is in it.

--textfile writes them to a file that ends with .prom, for the textfile collector of node_exporter: whole and at once,
readable by all; the folder has to be there. To have that done each minute:
  ouro-timer at every 1m -- ouro-timer metrics --textfile /var/lib/node_exporter/ouro-timer.prom

What each number covers, a dashboard for Grafana and rules for alerts: docs/metrics.md.`,
		Examples: []string{"ouro-timer metrics",
			"ouro-timer metrics --textfile /var/lib/prometheus/node-exporter/ouro-timer.prom"},
		Options: option.Rows{
			option.Option{Name: "textfile", Kind: option.File,
				Help: "write them to FILE, which ends with .prom, and print nothing"},
			cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors and the answer"), cli.ZoneFlag,
			cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{
			{Name: "metrics", Of: metricsJSON{}, Given: "!textfile", Means: "the numbers"},
			{Name: "metrics-textfile", Of: textfileJSON{}, Given: "textfile",
				Means: "--textfile: the file that was written"},
		},
		Run: runMetrics,
	}
}

// metricsJSON is the answer of metrics.
type metricsJSON struct {
	Now     time.Time        `json:"now"`
	Metrics []metrics.Family `json:"metrics"`
}

// Text writes Prometheus' text format.
func (a metricsJSON) Text(o *cli.Out) { _, _ = o.Stdout.Write(metrics.Text(a.Metrics)) }

// textfileJSON is the answer of metrics --textfile.
type textfileJSON struct {
	Now    time.Time `json:"now"`
	Path   string    `json:"path"`
	Bytes  int       `json:"bytes"`
	DryRun bool      `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// Text writes nothing about a file that was written, because cron would mail it.
func (a textfileJSON) Text(o *cli.Out) {
	if a.DryRun {
		o.Line("Would write %s, %s.", cli.Visible(a.Path), cli.Plural(a.Bytes, "byte"))
	}
}

func runMetrics(ctx context.Context, s *cli.Call) error {
	if err := cli.NoArguments(s); err != nil {
		return err
	}
	path, dry := s.Opt.Text("textfile"), s.DryRun
	switch {
	case dry && !s.Opt.Has("textfile"):
		return cli.NeedsOption("dry-run", problem.Set("textfile", "FILE"))
	case s.Opt.Has("textfile"):
		if err := checkTextfile(path); err != nil {
			return err
		}
	}
	s.DryRun = false // the store is only read
	st, zone, err := cli.OpenInZone(s)
	if err != nil {
		return err
	}
	families, err := metricsSource(s, st).Collect(ctx)
	if err != nil {
		return err
	}
	if path == "" {
		s.Answer(metricsJSON{s.Now(zone), families})
		return nil
	}
	text := metrics.Text(families)
	if !dry {
		if err := writeTextfile(path, text); err != nil {
			return unwrittenTextfile(path, err)
		}
	}
	s.Answer(textfileJSON{s.Now(zone), path, len(text), dry})
	return nil
}

// metricsSource is the source of the numbers about a store.
func metricsSource(s *cli.Call, st state.Store) metrics.Source {
	return metrics.Source{Store: st, Now: s.Clock.Now, Version: cli.Version, Go: runtime.Version(),
		Totals: new(metrics.Totals)}
}

// checkTextfile refuses a name that node_exporter would not read.
func checkTextfile(path string) error {
	folder, base := filepath.Split(path)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if name == "" || !strings.HasSuffix(base, ".prom") {
		better := folder + cmp.Or(name, "ouro-timer") + ".prom"
		return problem.Of(problem.T("%s is %s, and node_exporter reads only files that end with .prom",
			problem.Option("textfile"), cli.Quote(path)),
			problem.T("%s; to write elsewhere: %s > FILE", problem.To("metrics").With("textfile", better),
				problem.To("metrics")))
	}
	return nil
}

// writeTextfile replaces a file that everybody may read.
func writeTextfile(path string, text []byte) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "replace", Path: path, Err: errNotRegular}
	}
	return plainfile.Replace(path, text, 0o644)
}

var errNotRegular = errors.New("it is not a regular file")

// unwrittenTextfile says why the file was not written, and what to do.
func unwrittenTextfile(path string, err error) error {
	hint := "see that there is room, and who may write to " + filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "make the folder that node_exporter reads (--collector.textfile.directory): mkdir -p " +
			cli.ShellQuote(filepath.Dir(path))
	case errors.Is(err, errNotRegular):
		hint = "name another file, or remove what is there"
	}
	// The name of the temporary file would not help.
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err
	}
	return cli.Failed(cli.Visible(path)+" was not written: "+err.Error(), hint)
}
