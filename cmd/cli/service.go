package cli

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// programPath is this program's real path.
func programPath() (string, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return "", Failed("the path of this program is not known: "+err.Error(), "")
	}
	return program, nil
}

// ServicePlan returns the service of this state folder.
func ServicePlan(s *Call) (service.Plan, error) {
	home, err := s.Home()
	if err != nil {
		return service.Plan{}, err
	}
	program, err := programPath()
	if err != nil {
		return service.Plan{}, err
	}
	w := service.World{Program: program, State: home, Home: s.Getenv("HOME"), Config: s.Getenv("XDG_CONFIG_HOME"),
		User: s.Getenv("USER"), UID: os.Getuid()}
	if !filepath.IsAbs(w.Config) {
		w.Config = filepath.Join(w.Home, ".config")
	}
	if u, err := user.Current(); err == nil {
		w.User = u.Username
	}
	p, ok := service.For(runtime.GOOS, w)
	if !ok {
		return p, problem.New(problem.Unsupported, problem.T("services are made for systemd and launchd only"),
			problem.T("make the system run this when it starts: "+
				ShellLine([]string{program, "run", "--background"})))
	}
	if w.Home == "" {
		return service.Plan{}, problem.New(problem.Unusable, problem.T("HOME is not set, so there is no place for the service"), problem.T("set HOME"))
	}
	return p, nil
}

// SystemServicePlan returns the service of the machine for an init of service.Inits, or for the
// init of this machine when init is empty. Its tasks run as user.
func SystemServicePlan(init, user string) (service.Plan, error) {
	program, err := programPath()
	if err != nil {
		return service.Plan{}, err
	}
	if runtime.GOOS != "linux" {
		return service.Plan{}, problem.New(problem.Unsupported, problem.T("services of the system are made for Linux only"),
			problem.T("make the system run this when it starts: "+
				ShellLine([]string{program, "run", "--background"})))
	}
	if init == "" {
		init = service.InitOf(isFolder)
	}
	links := "/etc/service" // Debian's; Void's is another
	if !isFolder(links) && isFolder("/var/service") {
		links = "/var/service"
	}
	p, ok := service.ForSystem(init, program, user, links)
	if !ok {
		return p, Usage(Quote(init)+" is not an init that this program knows", "use "+plain.List(service.Inits, "or"))
	}
	return p, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Survives reports whether a runner starts by itself after a reboot.
func Survives(s *Call) bool {
	p, err := ServicePlan(s)
	if err == nil && p.Survives() {
		return true
	}
	if home, err := s.Home(); err != nil || home != service.SystemState {
		return false
	}
	p, err = SystemServicePlan("", service.SystemUser)
	return err == nil && p.Survives()
}
