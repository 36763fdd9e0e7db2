package guide

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
)

func VersionCommand() cli.Command {
	return cli.Command{
		Name: "version", Short: "print the version of this build",
		Examples: []string{"ouro-timer version", "ouro-timer version --json"},
		Options:  option.Rows{cli.QuietFlag("print the answer alone"), cli.JsonFlag(), cli.FieldsFlag()},
		Answers:  []cli.Shape{{Name: "version", Of: versionJSON{}, Says: "the build"}},
		Brief:    true,
		Run: func(_ context.Context, s *cli.Call) error {
			if err := cli.NoArguments(s); err != nil {
				return err
			}
			answer := versionJSON{Version: cli.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
			if s.InJSON { // the words say neither, and no settings are read for them
				answer.Now, answer.Revision = s.Stamp(), cli.OrNull(revision())
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
	Go       string    `json:"go" jsonschema:"the version of Go it was built with"`
	OS       string    `json:"os"`
	Arch     string    `json:"arch"`
}

// Text is the version, and of what.
func (a versionJSON) Text(o *cli.Out) {
	o.Line("ouro-timer %s (%s, %s/%s)", a.Version, a.Go, a.OS, a.Arch)
}

// revision is the commit this binary was built from, where the build says.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return ""
}
