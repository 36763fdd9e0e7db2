package proc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits bound what a child may use of the machine. The zero Limits bound nothing. Only Linux has
// them.
type Limits struct {
	Nice   int        // is added to ours, as nice(1) does: -20 to 19
	IO     IOPriority // of ionice(1)
	Memory int64      // bytes of all processes of the child together; 0: no bound
	CPU    int        // percent of one processor, for all of them together; 0: no bound
}

// bounding reports whether a cgroup has to hold them.
func (l Limits) bounding() bool { return l.Memory > 0 || l.CPU > 0 }

// IOPriority is a priority at the disks, as ioprio_set(2) takes it. 0: the one that we have.
type IOPriority int

// ioClasses are the classes of ioprio_set(2), each in its place.
var ioClasses = []string{"", "realtime", "best-effort", "idle"}

// ioClassShift is the place of the class in a priority.
const ioClassShift = 13

var errIOPriority = errors.New("it is not idle, best-effort, realtime, or one of the latter two with :0 to :7")

// ParseIOPriority reads a class of ionice(1) and, behind a colon, the level in it, 0 for the highest
// to 7; the level is 4 when it is not given. "none" is 0.
func ParseIOPriority(text string) (IOPriority, error) {
	if text == "none" {
		return 0, nil
	}
	name, level, given := strings.Cut(text, ":")
	for class, known := range ioClasses {
		if class == 0 || name != known {
			continue
		}
		n := 4
		if known == "idle" {
			n = 0
		}
		if given {
			var err error
			if n, err = strconv.Atoi(level); err != nil || len(level) != 1 || n > 7 || known == "idle" {
				return 0, errIOPriority
			}
		}
		return IOPriority(class<<ioClassShift | n), nil
	}
	return 0, errIOPriority
}

// LimitError is that of a child that is not started, as what it may use cannot be limited.
type LimitError struct{ Why error }

func (e *LimitError) Error() string {
	return fmt.Sprintf("its memory and its processor time cannot be limited here: %v; "+
		"a runner that is a service of systemd (ouro-timer service install) can do it", e.Why)
}

func (e *LimitError) Unwrap() error { return e.Why }
