package service

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/ouro-timer/ouro-timer/state/guard"
)

// Account is the user who runs the tasks of a service of the system, by numbers.
type Account struct {
	Name   string
	UID    int
	Groups []int // the first one is that of /etc/passwd
}

// AccountOf returns the user of that name. It is false when the system does not know all of it.
func AccountOf(name string) (a Account, ok bool) {
	u, err := user.Lookup(name)
	if err != nil {
		return a, false
	}
	ids, err := u.GroupIds()
	if err != nil {
		return a, false
	}
	a.Name = name
	if a.UID, err = strconv.Atoi(u.Uid); err != nil {
		return a, false
	}
	for _, id := range append([]string{u.Gid}, ids...) {
		gid, err := strconv.Atoi(id)
		if err != nil {
			return a, false
		}
		a.Groups = append(a.Groups, gid)
	}
	return a, true
}

// Barring says how a folder keeps a service of the system from working.
type Barring int

// The user may not enter a folder above the state folder, or one on the way to the program, or a
// folder in the state belongs to another user.
const (
	AboveState Barring = iota + 1
	AboveProgram
	InState
)

// Bar is a folder that keeps a service of the system from working. The zero value is none.
type Bar struct {
	Path string
	Why  Barring
	Mend []string // a call that mends it; nil: there is no such call
}

// Barred returns the first folder of which owners and modes say that a user could not have the
// service work with a state folder. The state folder itself need not be his: the manager gives it
// to him when the service starts. Only systemd gives him also what is in it.
func (p Plan) Barred(a Account, state string) Bar {
	groups := a.Groups
	if p.Manager == "runit" { // chpst -u drops the others
		groups = groups[:min(len(groups), 1)]
	}
	if dir, class := guard.Closed(filepath.Dir(state), a.UID, groups); dir != "" {
		return Bar{dir, AboveState, []string{"chmod", class + "+x", dir}}
	}
	if dir, _ := guard.Closed(filepath.Dir(p.Program), a.UID, groups); dir != "" {
		return Bar{dir, AboveProgram, nil}
	}
	another := func(path string) bool {
		info, err := os.Lstat(path)
		if err != nil {
			return false
		}
		uid, known := guard.Owner(info)
		return known && uid != a.UID
	}
	if p.Manager == "systemd" && another(state) {
		return Bar{}
	}
	for _, name := range []string{"timers", "runs"} {
		if path := filepath.Join(state, name); another(path) {
			return Bar{path, InState, []string{"chown", "-R", a.Name, state}}
		}
	}
	return Bar{}
}
