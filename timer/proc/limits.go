package proc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits bound what a child may use of the machine. The zero value bounds nothing. Only Linux has
// them.
type Limits struct {
	Nice   int        // is added to ours, like that of nice(1): -20 to 19
	IO     IOPriority // of ionice(1)
	Memory int64      // bytes of all processes of the child together; 0 means no limit
	CPU    int        // percent of one processor, for all of them together; 0 means no limit
}

// needCgroup reports whether only a cgroup can set the limits.
func (l Limits) needCgroup() bool { return l.Memory > 0 || l.CPU > 0 }

// IOPriority is a priority at the disks, as ioprio_set(2) takes it. 0 means our own.
type IOPriority int

// ioClasses are the classes of ioprio_set(2). The index is the number of the class.
var ioClasses = []string{"", "realtime", "best-effort", "idle"}

// ioClassShift is the first bit of the class in a priority.
const ioClassShift = 13

var errIOPriority = errors.New("it is not idle, best-effort, realtime, or one of the last two with a level of :0 to :7")

// ParseIOPriority reads a class of ionice(1), optionally with a colon and a level from 0, the
// highest, to 7. The level is 4 if it is missing. "none" is 0.
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

// LimitError is the error of a child that is not started because its limits cannot be set.
type LimitError struct{ Why error }

func (e *LimitError) Error() string {
	return fmt.Sprintf("its memory and processor time cannot be limited here: %v; "+
		"a runner that systemd starts can limit them (ouro-timer service install)", e.Why)
}

func (e *LimitError) Unwrap() error { return e.Why }
