package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// setting is a setting in effect, and where it came from.
type setting struct {
	Key    string  `json:"key"`
	Value  any     `json:"value" jsonschema:"text, a number or true or false"`
	Source string  `json:"source" jsonschema:"flag, env, config, machine or default"`
	Name   *string `json:"name" jsonschema:"the flag, the variable or the file"`
	Line   *int    `json:"line" jsonschema:"in config.toml"`
}

// Where a setting may come from.
const (
	fromFlag    = "flag"
	fromEnv     = "env"
	fromConfig  = "config"
	fromMachine = "machine"
	fromDefault = "default"
)

// from is the source as people read it.
func (v setting) from() string {
	switch {
	case v.Line != nil && *v.Line > 0:
		return fmt.Sprintf("%s line %d", *v.Name, *v.Line)
	case v.Source == fromDefault || v.Name == nil:
		return v.Source
	}
	return *v.Name
}

// settings are all there are.
func (d *doctor) settings() []setting {
	home := setting{Key: "home", Value: d.home, Source: fromDefault}
	if d.Getenv("OURO_HOME") != "" {
		home.Source, home.Name = fromEnv, orNull("OURO_HOME")
	}
	list := []setting{home}
	for _, s := range settings.All() {
		list = append(list, d.setting(s))
	}
	return list
}

// setting is one of config.toml as it is in effect for this call.
func (d *doctor) setting(s settings.Entry) setting {
	v := setting{Key: s.Key, Source: fromDefault, Value: plainDefault(s)}
	if s.Key == "tz" {
		v.Value = d.zone.String()
		switch name := d.Getenv("TZ"); {
		case d.opt.Has("tz"):
			v.Source, v.Name = fromFlag, orNull(s.Flag)
			return v
		case name != "":
			v.Source, v.Name = fromEnv, orNull("TZ")
		default:
			v.Source, v.Name = fromMachine, orNull("the machine")
		}
	}
	if given := d.Getenv(s.Env); s.Env != "" && given != "" {
		v.Source, v.Name = fromEnv, orNull(s.Env)
		if s.Kind == "bool" {
			v.Value = given == "1"
		} else {
			v.Value = given
		}
		return v
	}
	if given, ok := d.config.Values[s.Key]; ok {
		line := d.config.Lines[s.Key]
		v.Value, v.Source, v.Name, v.Line = given, fromConfig, orNull("config.toml"), &line
	}
	return v
}

// plainDefault is a setting's default as JSON has it.
func plainDefault(s settings.Entry) any {
	if text, err := strconv.Unquote(s.Default); err == nil {
		return text
	}
	if n, err := strconv.Atoi(s.Default); err == nil {
		return n
	}
	if b, err := strconv.ParseBool(s.Default); err == nil {
		return b
	}
	return s.Default
}

// lookAtConfig reads config.toml.
func (d *doctor) lookAtConfig(ctx context.Context) {
	if d.home == "" {
		d.say("config", state.Fine, "there is no place for a config.toml; every setting has its default", "")
		return
	}
	r, err := settings.Read(d.home)
	d.config = r
	if err != nil {
		d.fail("config", err)
		return
	}
	f := few{d: d, name: "config"}
	edit := "edit " + shellQuote(r.Path)
	for _, p := range r.Problems {
		hint := edit
		if p.Hint != "" {
			hint = p.Hint + " " + edit
		}
		f.say(state.Wrong, strings.TrimSuffix(p.Error(), "; "+p.Hint), hint)
	}
	if r.Config.TZ != "" {
		if _, err := when.LoadZone(r.Config.TZ); err != nil {
			e := explain(err)
			f.say(state.Wrong, fmt.Sprintf("%s line %d: %s", r.Path, r.Lines["tz"], d.says(e.Message)), d.says(e.Hint)+"; "+edit)
		}
	}
	if shell := r.Config.Run.Shell; shell != "" {
		if _, err := d.lookPath(ctx, shell, d.Getenv("PATH"), "/"); proc.Passing(err) {
			f.say(state.Wrong, fmt.Sprintf("%s line %d: %s", r.Path, r.Lines["run.shell"], err), edit)
		} else if err != nil {
			f.say(state.Wrong, fmt.Sprintf("%s line %d: there is no shell %s", r.Path, r.Lines["run.shell"], quote(shell)), edit)
		}
	}
	fine := fmt.Sprintf("%s gives %s", r.Path, plural(len(r.Values), "setting"))
	if _, err := os.Stat(r.Path); err != nil {
		fine = "there is no config.toml; every setting has its default"
	}
	f.end(fine)
}

// handed are the variables that commands of tasks are given, and this may be one.
var handed = []string{"OURO_TASK_ID", "OURO_TASK", "OURO_DUE", "OURO_ATTEMPT", "OURO_OCCURRENCE", "OURO_LAST_OUTCOME", runner.OriginVariable}

// heeded are the variables that are settings.
var heeded = []string{"OURO_HOME", "OURO_TZ", "OURO_AUTOSTART", "OURO_MAX"}

// lookAtEnvironment looks at the variables that begin with OURO_.
func (d *doctor) lookAtEnvironment() {
	f := few{d: d, name: "environment"}
	var set []string
	environ := d.Environ()
	slices.Sort(environ)
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "OURO_") || slices.Contains(handed, name) {
			continue
		}
		if !slices.Contains(heeded, name) {
			hint := "unset " + shellQuote(name)
			if near := option.Nearest(name, heeded); near != "" {
				hint = "did you mean " + near + "? " + hint
			}
			f.say(state.Odd, name+" is set, and nothing heeds it", hint)
			continue
		}
		set = append(set, name+"="+quote(value))
	}
	if err := d.environment(); err != nil {
		e := explain(err)
		f.say(state.Wrong, d.says(e.Message), d.says(e.Hint))
	}
	if name := d.Getenv("OURO_TZ"); name != "" {
		if _, err := when.LoadZone(name); err != nil {
			e := explain(err)
			f.say(state.Wrong, "OURO_TZ: "+d.says(e.Message), d.says(e.Hint))
		}
	}
	if name := d.Getenv("OURO_MAX"); name != "" {
		if _, err := when.Duration(name); err != nil {
			e := explain(err)
			f.say(state.Wrong, "OURO_MAX: "+d.says(e.Message), "write it as in OURO_MAX=110s")
		}
	}
	fine := "no variable OURO_* is set"
	if len(set) > 0 {
		fine = strings.Join(set, ", ")
	}
	f.end(fine)
}

// What a clock must not show.
var leastClock = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// lookAtClock holds the clock against the past.
func (d *doctor) lookAtClock(ctx context.Context) {
	const set = "set the clock: timedatectl set-ntp true, or date -s"
	if d.now.Before(leastClock) {
		d.say("clock", state.Wrong, "the clock says "+stamp(d.now)+", which is long past", set)
		return
	}
	if d.st != nil {
		var last state.Line
		// What cannot be read is told of the ledger.
		_, _, _ = d.st.Log(ctx, "", func(l state.Line) bool { last = l; return false })
		back, _ := d.st.Setback(ctx) // one that cannot be read begins anew
		text := ""
		switch {
		case back.Peak.Sub(d.now) > state.ClockBack:
			text = fmt.Sprintf("and has shown %s, %s later; a runner has seen it stay so for %s", stamp(back.Peak.In(d.zone)), when.Distance(d.now, back.Peak),
				back.Stayed.Round(time.Second))
		case last.At.Sub(d.now) > state.ClockBack:
			text = fmt.Sprintf("and the last line of the ledger was written at %s, %s later", stamp(last.At.In(d.zone)), when.Distance(d.now, last.At))
		}
		if text != "" {
			d.say("clock", state.Wrong, "the clock says "+stamp(d.now)+", "+text,
				"if the clock is wrong, "+set+"; if it was wrong before, nothing: schedules go on from now once it has stayed so for an hour, or a time server keeps it right")
			return
		}
	}
	d.say("clock", state.Fine, "it is "+stamp(d.now), "")
}

// lookAtZone tells of the zone times are meant in; err is why there is none.
func (d *doctor) lookAtZone(err error) {
	if err != nil {
		f := explain(err)
		var bad *settings.Problem
		if f.Code == problem.Usage || errors.As(err, &bad) || errors.Is(err, state.ErrUnusable) {
			d.say("zone", state.Odd, "which zone times are meant in cannot be told before config.toml can be read; times here are in UTC", "mend config.toml")
			return
		}
		d.say("zone", state.Wrong, d.says(f.Message), d.says(f.Hint))
		return
	}
	rules := "its rules are the machine's"
	if !machineRules(d.Getenv) {
		rules = "its rules are built in, as there is no zone database (package tzdata) here"
	}
	d.say("zone", state.Fine, d.zone.String()+"; "+rules, "")
}

// machineRules reports whether the machine has a zone database where Go looks for one.
func machineRules(getenv func(string) string) bool {
	for _, dir := range []string{getenv("ZONEINFO"), "/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(dir); err == nil {
			return true
		}
	}
	return false
}
