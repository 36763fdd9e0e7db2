package daemon

import (
	"fmt"
	"strconv"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state/settings"
)

// setting is a setting in effect, and where it came from.
type setting struct {
	Key    string  `json:"key"`
	Value  any     `json:"value" jsonschema:"text, a number or true or false"`
	Source string  `json:"source" jsonschema:"flag, env, config, machine or default"`
	Name   *string `json:"name,omitempty" jsonschema:"the flag, the variable or the file"`
	Line   *int    `json:"line,omitempty" jsonschema:"in config.toml"`
}

// These are the sources of settings.
const (
	fromFlag    = "flag"
	fromEnv     = "env"
	fromConfig  = "config"
	fromMachine = "machine"
	fromDefault = "default"
)

// from is the source as text for people.
func (v setting) from() string {
	switch {
	case v.Line != nil && *v.Line > 0:
		return fmt.Sprintf("%s line %d", *v.Name, *v.Line)
	case v.Source == fromDefault || v.Name == nil:
		return v.Source
	}
	return *v.Name
}

// settings are all settings in effect.
func (d *examination) settings() []setting {
	home := setting{Key: "home", Value: d.doctor.Home, Source: fromDefault}
	if d.Getenv("OURO_HOME") != "" {
		home.Source, home.Name = fromEnv, cli.OrNull("OURO_HOME")
	}
	list := []setting{home}
	for _, s := range settings.All() {
		list = append(list, d.setting(s))
	}
	return list
}

// setting is a setting of config.toml as it is in effect for this call.
func (d *examination) setting(s settings.Entry) setting {
	v := setting{Key: s.Key, Source: fromDefault, Value: plainDefault(s)}
	if s.Key == "tz" {
		v.Value = d.doctor.Zone.String()
		switch name := d.Getenv("TZ"); {
		case d.Opt.Has("tz"):
			v.Source, v.Name = fromFlag, cli.OrNull(s.Flag)
			return v
		case name != "":
			v.Source, v.Name = fromEnv, cli.OrNull("TZ")
		default:
			v.Source, v.Name = fromMachine, cli.OrNull("the machine")
		}
	}
	if given := d.Getenv(s.Env); s.Env != "" && given != "" {
		v.Source, v.Name = fromEnv, cli.OrNull(s.Env)
		if s.Kind == "bool" {
			v.Value = given == "1"
		} else {
			v.Value = given
		}
		return v
	}
	if given, ok := d.doctor.Config().Values[s.Key]; ok {
		line := d.doctor.Config().Lines[s.Key]
		v.Value, v.Source, v.Name, v.Line = given, fromConfig, cli.OrNull("config.toml"), &line
	}
	return v
}

// plainDefault is the default of a setting as a value of JSON.
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
