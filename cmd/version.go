package cmd

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
)

func versionCommand() command {
	return command{
		name: "version", short: "print the version of this build",
		examples: []string{"ouro-timer version", "ouro-timer version --json"},
		options:  option.Rows{jsonFlag()},
		answers:  []answer{{name: "version", of: versionJSON{}, says: "the build"}},
		run: func(_ context.Context, s *session) error {
			if err := noArguments(s); err != nil {
				return err
			}
			if !s.inJSON {
				s.line("ouro-timer %s (%s, %s/%s)", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return nil
			}
			s.emit(versionJSON{s.stamp(), Version, orNull(revision()), runtime.Version(), runtime.GOOS, runtime.GOARCH})
			return nil
		},
	}
}

// versionJSON is the answer of version.
type versionJSON struct {
	Now      time.Time `json:"now"`
	Version  string    `json:"version"`
	Revision *string   `json:"revision" jsonschema:"the commit it was built from, where the build knows"`
	Go       string    `json:"go" jsonschema:"the version of Go it was built with"`
	OS       string    `json:"os"`
	Arch     string    `json:"arch"`
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
