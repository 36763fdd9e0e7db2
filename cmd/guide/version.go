package guide

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// VersionCommand is the command version.
func VersionCommand() cli.Command {
	return cli.Command{
		Name: "version", Short: "print the version of this build",
		Examples: []string{"ouro-timer version", "ouro-timer version --json"},
		Options:  option.Rows{cli.QuietFlag.WithHelp("print the answer alone"), cli.JSONFlag, cli.FieldsFlag},
		Answers:  []cli.Shape{{Name: "version", Of: versionJSON{}, Means: "the build"}},
		Brief:    true,
		Run: func(_ context.Context, s *cli.Call) error {
			if err := cli.NoArguments(s); err != nil {
				return err
			}
			answer := build()
			if s.InJSON { // the text has no time, and needs no settings
				answer.Now = s.Stamp()
			}
			s.Answer(answer)
			return nil
		},
	}
}

// versionJSON is the answer of version.
type versionJSON struct {
	Now      time.Time `json:"now"`
	Version  string    `json:"version"`
	Revision *string   `json:"revision,omitempty" jsonschema:"the commit it was built from, where the build knows"`
	Date     *string   `json:"date,omitempty" jsonschema:"when that commit was made, where the build knows"`
	Go       string    `json:"go" jsonschema:"the version of Go it was built with"`
	OS       string    `json:"os"`
	Arch     string    `json:"arch"`
}

// Text writes the version and its build: ouro-timer 0.2.0 (1a2b3c4, 2026-11-23, go1.26.8,
// linux/amd64).
func (a versionJSON) Text(o *cli.Out) {
	parts := make([]string, 0, 4)
	if a.Revision != nil {
		parts = append(parts, (*a.Revision)[:min(7, len(*a.Revision))])
	}
	if a.Date != nil {
		parts = append(parts, (*a.Date)[:min(len(time.DateOnly), len(*a.Date))])
	}
	parts = append(parts, a.Go, a.OS+"/"+a.Arch)
	o.Line("ouro-timer %s (%s)", a.Version, strings.Join(parts, ", "))
}

// build returns what this binary was built from. The linker sets it for a release; for another
// build Go has noted the commit.
func build() versionJSON {
	answer := versionJSON{Version: cli.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	revision, date := cli.Revision, cli.Date
	if info, ok := debug.ReadBuildInfo(); ok && revision == "" {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				revision = setting.Value
			case "vcs.time":
				date = setting.Value
			}
		}
	}
	answer.Revision, answer.Date = cli.OrNull(revision), cli.OrNull(date)
	return answer
}
