package cmd

import (
	"slices"
	"strconv"

	"github.com/ouro-timer/ouro-timer/timer/health"
)

// verdict is the end of a wait without health: the answer was given, but for a word to a person on what to do.
func (o *healthOptions) verdict(s *session, r health.Result) error {
	f := o.fault(r)
	if s.json {
		return exitCode(f.exit)
	}
	if o.quiet { // no line before it has said so
		f.message += ": " + healthFault(r)
	}
	return f
}

// fault is a wait without health as an error. What the matter is with the targets is left to
// whoever tells it.
func (o *healthOptions) fault(r health.Result) *failure {
	f := &failure{exit: exitTimedOut, code: codeFailed, message: o.missed(r)}
	if r.Reason == health.Permanent {
		f.exit, f.message = exitFailed, "waiting does not mend this"
		if o.notFound(r) {
			f.exit, f.code = exitNotFound, codeNotFound
		}
	}
	for _, hint := range o.hints(r, nil) {
		if f.hint == "" {
			f.hint = hint
		}
	}
	return f
}

// notFound reports whether all that ended the wait is tasks that are not there.
func (o *healthOptions) notFound(r health.Result) bool {
	return !slices.ContainsFunc(r.Targets, func(t health.TargetResult) bool { return t.Permanent && t.Last.Kind != health.NoTask })
}

// missed says what did not come in time.
func (o *healthOptions) missed(r health.Result) string {
	what, within := "not healthy", " within "
	if o.wait.Invert {
		what, within = "not known to be gone", " after "
		for i, t := range r.Targets {
			switch {
			case t.Healthy || !t.Last.Stays():
			case o.isThing(i):
				what = "still there"
			case what != "still there":
				what = "still healthy"
			}
		}
	}
	if o.until {
		return what + " by " + stamp(o.due)
	}
	return what + within + lasted(o.timeout)
}

// hints say for each target that is not healthy what to do; nil when the wait goes on, or is over well.
func (o *healthOptions) hints(r health.Result, further []string) []string {
	if r.Healthy || further != nil || r.Reason == health.Cancelled {
		return nil
	}
	hints := make([]string, len(r.Targets))
	for i, t := range r.Targets {
		switch {
		case t.Permanent:
			hints[i] = o.mending(i, t)
		case !t.Healthy && r.Reason == health.TimedOut:
			hints[i] = o.patience(i, t)
		}
	}
	return hints
}

// patience says what to do about a target that was not healthy in time.
func (o *healthOptions) patience(i int, t health.TargetResult) string {
	longer := "give a longer --timeout"
	if o.until {
		longer = "give a later --until"
	}
	switch scheme := o.targets[i].Scheme(); {
	case o.wait.Invert && !t.Last.Stays():
		return longer + "; what cannot be looked at is not taken for gone"
	case o.wait.Invert:
		return longer + ", or end what is still there"
	case scheme == "file":
		return longer + ", or look at what is to write the file"
	case scheme == "pid":
		return longer
	case scheme == "task":
		return longer + "; ouro-timer show " + healthTaskID(o.targets[i]) + " says how it stands"
	}
	return "look at the service, or " + longer + "; calling again in a loop does not help it up"
}

// mending says what to do about a fault that waiting does not mend.
func (o *healthOptions) mending(i int, t health.TargetResult) string {
	kind, scheme := t.Last.Kind, o.targets[i].Scheme()
	refused := kind == health.Status && slices.Contains([]int{401, 403, 407}, t.Last.Number)
	switch {
	case scheme == "exec":
		return "correct the command, or give --keep-trying if it is still to be installed"
	case scheme == "pid":
		return "to wait until a process has ended, give --invert"
	case scheme == "task":
		return taskMending(kind)
	case scheme != "http" && scheme != "https" && scheme != "tls":
	case kind == health.WrongName:
		return "wait for the name it is for, or accept any certificate by --insecure; tcp://host:port asks for none"
	case kind == health.UnknownAuthority:
		return "give its authority by --ca FILE, or accept any certificate by --insecure; tcp://host:port asks for none"
	case refused && t.Last.Number == 407:
		return "give the proxy a name and a password: HTTP_PROXY=http://name:password@host:port; or name the host in NO_PROXY"
	case refused:
		return "--status " + strconv.Itoa(t.Last.Number) + " accepts it; --header @FILE sends credentials"
	case kind == health.RedirectOther && t.Last.Away == "":
		return "wait for where it leads by its own client, as exec:line, or accept the redirect itself by --status 3xx"
	case scheme == "tls":
		return "correct the target, or wait for the port alone, as tcp://host:port"
	default:
		return "correct the target, accept the answer by --status, or wait for the port alone, as tcp://host:port"
	}
	return "correct the target, or give --keep-trying if somebody else will"
}

// taskMending says what to do about a task that will not end well.
func taskMending(fault health.Kind) string {
	switch fault {
	case health.FromOne:
		return "the first is ID/1; ID alone is the task as a whole"
	case health.OnlyOnce:
		return "wait for the task itself: task:ID"
	}
	return "ouro-timer ls --all shows every task, ouro-timer log ID how one went"
}
