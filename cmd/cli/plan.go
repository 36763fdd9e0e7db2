package cli

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// PlanOf is the service of this state folder.
func PlanOf(s *Call) (service.Plan, error) {
	home, err := s.Home()
	if err != nil {
		return service.Plan{}, err
	}
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return service.Plan{}, Failed("where this program is cannot be told: "+err.Error(), "")
	}
	w := service.World{Program: program, State: home, Home: s.Getenv("HOME"), Config: s.Getenv("XDG_CONFIG_HOME"), User: s.Getenv("USER"), UID: os.Getuid()}
	if w.Home == "" {
		return service.Plan{}, &problem.Problem{Code: problem.Unusable, Message: problem.T("HOME is not set, so there is no place for the service"), Hint: problem.T("set HOME")}
	}
	if !filepath.IsAbs(w.Config) {
		w.Config = filepath.Join(w.Home, ".config")
	}
	if u, err := user.Current(); err == nil {
		w.User = u.Username
	}
	p, ok := service.For(runtime.GOOS, w)
	if !ok {
		return p, &problem.Problem{Code: problem.Unsupported, Message: problem.T("services are made for systemd and launchd only"),
			Hint: problem.T("have the system call at its start: " + ShellLine([]string{program, "run", "--background"}))}
	}
	return p, nil
}

// Survives reports whether a runner comes back by itself after a reboot.
func Survives(s *Call) bool {
	p, err := PlanOf(s)
	return err == nil && p.Survives()
}
