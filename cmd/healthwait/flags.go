package healthwait

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// minInterval is the least --interval.
const minInterval = 10 * time.Millisecond

func flags() option.Rows {
	return option.Rows{
		option.Option{Name: "timeout", Kind: option.Duration, Group: "How long",
			Default: cli.SpanText(defaultTimeout), Help: "give up after DURATION; 0 means never"},
		option.Option{Name: "until", Kind: option.Instant, Group: "How long",
			Help: "give up at INSTANT instead: 2030-12-24T18:00:00+01:00, 10pm"},
		option.Option{Name: "max", Kind: option.Duration, Group: "How long", Env: "OURO_MAX",
			Help: "wait for the targets for at most DURATION, then exit with code 75 and the command that continues; a " +
				"command that has begun is not ended (default: OURO_MAX)"},
		option.Option{Name: "interval", Kind: option.Duration, Group: "What is healthy",
			Default: cli.SpanText(health.DefaultInterval), Help: "the longest pause between attempts, DURATION"},
		option.Option{Name: "attempt-timeout", Kind: option.Duration, Group: "What is healthy",
			Default: cli.SpanText(health.DefaultAttempt), Help: "an attempt fails after DURATION"},
		option.Option{Name: "all", Kind: option.Flag, Group: "What is healthy",
			Help: "wait until all targets are healthy (the default)"},
		option.Option{Name: "any", Kind: option.Flag, Group: "What is healthy", Help: "one healthy target is enough"},
		option.Option{Name: "invert", Kind: option.Flag, Group: "What is healthy",
			Help: "wait until the targets are not there: port free, file or process gone"},
		option.Option{Name: "successes", Kind: option.Whole, Group: "What is healthy", Default: "1",
			Help: "a target is healthy after N good answers in a row"},
		option.Option{Name: "stable", Kind: option.Duration, Group: "What is healthy",
			Help: "a target is healthy after good answers only for DURATION"},
		option.Option{Name: "keep-trying", Kind: option.Flag, Group: "What is healthy",
			Help: "also wait when a fault is one that waiting usually does not mend"},
		option.Option{Name: "status", Kind: option.List, Group: "http and TLS", Default: "2xx",
			Help: "http: the answers to accept, LIST: 200-299,401 or 2xx"},
		option.Option{Name: "header", Kind: option.Text, Group: "http and TLS", Value: "LINE", Many: true,
			Help: "http: send LINE, such as 'Accept: text/html'; may be given again. ps shows it to everybody on the " +
				"machine: @FILE reads the lines from a file, for secrets"},
		option.Option{Name: "body", Kind: option.Regex, Group: "http and TLS",
			Help: "http: the body must match REGEX (its first MiB is looked at)"},
		option.Option{Name: "body-json", Kind: option.Text, Group: "http and TLS", Value: "PATH=VALUE",
			Many: true,
			Help: "http: the JSON of the body must have VALUE at PATH (JSONPath), as '$.status=up'; may be given again"},
		option.Option{Name: "method", Kind: option.Name, Group: "http and TLS", Value: "METHOD", Default: "GET",
			Help: "http: send METHOD"},
		option.Option{Name: "insecure", Kind: option.Flag, Group: "http and TLS",
			Help: "with TLS: accept any certificate"},
		option.Option{Name: "ca", Kind: option.File, Group: "http and TLS",
			Help: "with TLS: trust the certificates in FILE (PEM) instead of the system's"},
		option.Option{Name: "min-days", Kind: option.Whole, Group: "http and TLS",
			Help: "with TLS: the certificate must be valid for N more days"},
		option.Option{Name: "non-empty", Kind: option.Flag, Group: "Files", Help: "file: it must not be empty"},
		option.Option{Name: "newer-than", Kind: option.File, Group: "Files",
			Help: "file: changed after FILE was, since an instant (2030-12-24T18:00:00Z), within a duration (10m), " +
				"or since the wait began (now)"},
		option.Option{Name: "stream", Kind: option.Flag, OfCall: true,
			Help: "with --json and a command: answer first, then pass on what the command writes"},
		cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag,
	}
}

// uses says for which schemes an option is. Options about certificates are not for http, although
// it may redirect to https, because without a redirect no certificate would be checked.
var uses = []struct {
	flag    string
	schemes []string // nil means the schemes with a certificate
	example string
}{
	{"status", []string{"http", "https"}, "http://localhost:8080/health"},
	{"header", []string{"http", "https"}, "http://localhost:8080/health"},
	{"body", []string{"http", "https"}, "http://localhost:8080/health"},
	{"body-json", []string{"http", "https"}, "http://localhost:8080/health"},
	{"method", []string{"http", "https"}, "http://localhost:8080/health"},
	{"insecure", nil, "https://localhost:8443/"},
	{"ca", nil, "https://localhost:8443/"},
	{"min-days", nil, "tls://example.org:443"},
	{"non-empty", []string{"file"}, "file:build.log"},
	{"newer-than", []string{"file"}, "file:build.log"},
}

// reader reads the options of a call.
type reader struct {
	ctx     context.Context
	s       *cli.Call
	b       *bounds
	options *health.Options
}

// attempts reads how often to try, and how many successes are needed.
func (r reader) attempts() (err error) {
	if r.options.Interval, err = span(r.s.Opt, "interval", health.DefaultInterval); err != nil {
		return err
	}
	if r.options.Interval < minInterval {
		return problem.Of(problem.T("%s must be 10ms or more", problem.Option("interval")),
			problem.T("leave it out for 2s"))
	}
	if r.options.Attempt, err = span(r.s.Opt, "attempt-timeout", health.DefaultAttempt); err != nil {
		return err
	}
	if r.options.Attempt <= 0 {
		return problem.Of(problem.T("%s must be more than 0", problem.Option("attempt-timeout")),
			problem.T("leave it out for 5s; %s bounds the whole wait", problem.Option("timeout")))
	}
	if r.options.Successes = r.s.Opt.Int("successes"); r.s.Opt.Has("successes") && r.options.Successes < 1 {
		return problem.Of(problem.T("%s must be 1 or more", problem.Option("successes")),
			problem.T("leave it out for 1"))
	}
	if r.options.Stable, err = span(r.s.Opt, "stable", 0); err != nil {
		return err
	}
	for _, bound := range []struct {
		name problem.Option
		span time.Duration
		hint string
	}{
		{"timeout", r.b.timeout, "give a longer %s, or a shorter %s"},
		{"max", r.b.most, "each call measures it anew: give a longer %s, or a shorter %s"},
	} {
		if bound.span > 0 && r.options.Stable >= bound.span {
			return problem.Of(problem.T("%s %s does not fit into %s %s", problem.Option("stable"),
				lasted(r.options.Stable), bound.name, lasted(bound.span)),
				problem.T(bound.hint, bound.name, problem.Option("stable")))
		}
	}
	// With --max, or when the deadline has passed, this may be the last of several calls, and the
	// first had time enough.
	if left := r.b.due.Sub(r.b.begun); r.b.until && r.b.most == 0 && left > 0 && r.options.Stable >= left {
		return problem.Of(problem.T("%s %s does not fit before %s, which is in %s", problem.Option("stable"),
			lasted(r.options.Stable), problem.Option("until"), lasted(left)),
			problem.T("give a later %s, or a shorter %s", problem.Option("until"), problem.Option("stable")))
	}
	return nil
}

// newerNow is the word of --newer-than for the beginning of the wait.
const newerNow = "now"

func newerThan(what string) problem.Setting { return problem.Set("newer-than", what) }

// file reads the options about files.
func (r reader) file() error {
	f := &r.options.File
	f.NonEmpty = r.s.Opt.Bool("non-empty")
	if !r.s.Opt.Has("newer-than") {
		return nil
	}
	text := strings.TrimSpace(r.s.Opt.Text("newer-than"))
	if text == "" {
		return problem.Of(problem.T("%s is empty", problem.Option("newer-than")),
			problem.T("try %s, %s or %s", newerThan("Makefile"), newerThan("10m"), newerThan(newerNow)))
	}
	if text == newerNow {
		f.Since = r.b.begun
		return nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		f.Since = t
		return nil
	}
	if d, err := when.Duration(text); err == nil && d > 0 {
		f.Within = d
		return nil
	}
	if _, err := os.Stat(r.s.Opt.Text("newer-than")); err != nil {
		return problem.Of(problem.T("%s %s is not an existing file, a duration or an instant with an offset",
			problem.Option("newer-than"), cli.Quote(text)),
			problem.T("try %s, %s, %s or %s", newerThan("Makefile"), newerThan("10m"),
				newerThan(r.b.begun.In(zoneOr(r.s, time.UTC)).Format(time.RFC3339)), newerThan(newerNow)))
	}
	f.NewerThanFile = r.s.Opt.Text("newer-than")
	return nil
}

// repeatCall returns this call without its bounds and its command. Options that count from the
// beginning of the wait are written so that they mean the same in a later call.
func (o *healthWait) repeatCall(s *cli.Call) problem.Call {
	c := problem.To("health-wait", s.Args...)
	for _, row := range s.Cmd.Options {
		switch name := row.Name; {
		case name == "timeout" || name == "until" || name == "max":
		case name == "newer-than" && strings.TrimSpace(s.Opt.Text(name)) == newerNow:
			c = c.With("newer-than", o.group.Options.File.Since.In(zoneOr(s, time.UTC)).Format(time.RFC3339Nano))
		default:
			c = cli.With(c, s.Opt, name)
		}
	}
	return c
}

// span reads an option that is a duration; fallback when it is not given.
func span(given option.Values, flag string, fallback time.Duration) (time.Duration, error) {
	if !given.Has(flag) {
		return fallback, nil
	}
	d, err := tasks.Duration(given.Text(flag))
	if err != nil {
		return 0, cli.Explain(err).About(problem.Option(flag))
	}
	return d, nil
}
