package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// getenv returns a variable of the environment.
func (d *Doctor) getenv(name string) string {
	for _, pair := range d.Environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// earliestClock is the earliest time that a correct clock can show.
var earliestClock = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// checkClock checks whether the clock shows a time long past, or less than it has shown.
func (d *Doctor) checkClock(ctx context.Context, tell report) string {
	const set = "set the clock: timedatectl set-ntp true, or date -s"
	if d.Now.Before(earliestClock) {
		tell(wrong(ClockPast, "", "the clock says "+stamp(d.Now)+", which is long past", set))
		return ""
	}
	var last state.Line
	var back state.ClockShift
	if d.Store != nil {
		// another check reports a ledger that cannot be read
		_, _, _ = d.Store.Log(ctx, "", func(l state.Line) bool { last = l; return false })
		// one that cannot be read counts as none
		back, _ = d.Store.ClockShift(ctx)
	}
	text := ""
	switch {
	case back.Peak.Sub(d.Now) > state.ClockBack:
		text = fmt.Sprintf("and has shown %s, %s later; a runner has seen it stay so for %s", stamp(back.Peak.In(d.Zone)), say.Distance(d.Now, back.Peak),
			back.Stayed.Round(time.Second))
	case last.At.Sub(d.Now) > state.ClockBack:
		text = fmt.Sprintf("and the last line of the ledger was written at %s, %s later", stamp(last.At.In(d.Zone)), say.Distance(d.Now, last.At))
	default:
		return "it is " + stamp(d.Now)
	}
	tell(wrong(ClockBack, "", "the clock says "+stamp(d.Now)+", "+text,
		"if the clock is wrong, "+set+"; if it was wrong before, nothing: schedules go on from now once it has stayed so for an hour, or a time server keeps it right"))
	return ""
}

// checkZone checks the zone in which times are meant.
func (d *Doctor) checkZone(_ context.Context, tell report) string {
	switch {
	case d.ZoneErr != nil && (d.configErr != nil || len(d.config.Problems) > 0):
		tell(odd(BadConfig, "", "which zone times are meant in cannot be told before config.toml can be read; times here are in UTC", "mend config.toml"))
	case d.ZoneErr != nil:
		text, hint := d.Explain(d.ZoneErr)
		tell(wrong(Unknown, "", text, hint))
	}
	if !d.machineRules() {
		return d.Zone.String() + "; its rules are built in, as there is no zone database (package tzdata) here"
	}
	return d.Zone.String() + "; its rules are the machine's"
}

// machineRules reports whether the machine has a zone database where Go looks for one.
func (d *Doctor) machineRules() bool {
	for _, dir := range []string{d.getenv("ZONEINFO"), "/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"} {
		if _, err := os.Stat(dir); dir != "" && err == nil {
			return true
		}
	}
	return false
}

// checkConfig reports every mistake in config.toml.
func (d *Doctor) checkConfig(ctx context.Context, tell report) string {
	r := d.config
	switch {
	case d.Home == "":
		return "there is no place for a config.toml; every setting has its default"
	case d.configErr != nil:
		f := d.Failed(d.configErr)
		if unsafe, ok := errors.AsType[*guard.Error](d.configErr); ok && unsafe.Reason == guard.OthersWrite {
			f.Mend = chmod(unsafe.Path, "go-w", func(mode os.FileMode) os.FileMode { return mode &^ 0o022 })
		}
		tell(f)
		return ""
	}
	edit := "edit " + quoted(r.Path)
	for _, p := range r.Problems {
		hint := edit
		if p.Hint != "" {
			hint = both(p.Hint, edit)
		}
		tell(wrong(BadSetting, "", p.Said(), hint))
	}
	at := func(key string) string { return fmt.Sprintf("%s line %d: ", r.Path, r.Lines[key]) }
	if r.Config.TZ != "" {
		if _, err := civil.LoadZone(r.Config.TZ); err != nil {
			text, hint := d.Explain(err)
			tell(wrong(BadZone, "tz", at("tz")+text, both(hint, edit)))
		}
	}
	if shell := r.Config.Run.Shell; shell != "" {
		if _, err := d.Programs.Path(ctx, shell, d.getenv("PATH"), "/"); proc.Passing(err) {
			tell(wrong(Silent, "run.shell", at("run.shell")+err.Error(), edit))
		} else if err != nil {
			tell(wrong(NoProgram, "run.shell", at("run.shell")+"there is no shell "+plain.Quote(shell), edit))
		}
	}
	if _, err := os.Stat(r.Path); err != nil {
		return "there is no config.toml; every setting has its default"
	}
	return fmt.Sprintf("%s gives %s", r.Path, plain.Plural(len(r.Values), "setting"))
}

// checkEnvironment checks the variables that begin with OURO_.
func (d *Doctor) checkEnvironment(_ context.Context, tell report) string {
	var set []string
	for _, pair := range slices.Sorted(slices.Values(d.Environ)) {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case !strings.HasPrefix(name, "OURO_") || slices.Contains(runner.Handed, name):
			// This process may be that of a run.
		case slices.Contains(d.Settings, name):
			set = append(set, name+"="+plain.Quote(value))
		default:
			hint := "unset " + quoted(name)
			if near := d.Near(name); near != "" {
				hint = both("did you mean "+near+"?", hint)
			}
			tell(odd(Unknown, name, name+" is set, and nothing heeds it", hint))
		}
	}
	if err := d.Given(); err != nil {
		text, hint := d.Explain(err)
		tell(wrong(BadValue, "", text, hint))
	}
	if name := d.getenv("OURO_TZ"); name != "" {
		if _, err := civil.LoadZone(name); err != nil {
			text, hint := d.Explain(err)
			tell(wrong(BadValue, "OURO_TZ", "OURO_TZ: "+text, hint))
		}
	}
	if most := d.getenv("OURO_MAX"); most != "" {
		if _, err := when.Duration(most); err != nil {
			text, _ := d.Explain(err)
			tell(wrong(BadValue, "OURO_MAX", "OURO_MAX: "+text, "write it as in OURO_MAX=110s"))
		}
	}
	if len(set) == 0 {
		return "no variable OURO_* is set"
	}
	return strings.Join(set, ", ")
}
