package healthwait

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// verdict returns the error by which a wait ends whose targets are not healthy. The answer is
// written before; people still get the hint.
func (o *healthWait) verdict(s *cli.Call, r health.Result) error {
	f := o.fault(r)
	if s.InJSON {
		return cli.ExitCode(f.ExitCode())
	}
	if o.quiet { // nothing else has said so
		f.Message = problem.T("%s: %s", f.Message, firstFault(r))
	}
	return f
}

// fault returns the problem of a wait whose targets are not healthy, without what is wrong with
// each.
func (o *healthWait) fault(r health.Result) *problem.Problem {
	f := problem.New(problem.Failed, problem.T(o.unhealthyText(r)), problem.Text{})
	f.Exit = cli.ExitTimedOut
	if r.Reason == health.Permanent {
		f.Exit, f.Message = cli.ExitFailed, problem.T("waiting does not mend this")
		if o.notFound(r) {
			f.Exit, f.Code = cli.ExitNotFound, problem.NotFound
		}
	}
	for _, hint := range o.hints(r, nil) {
		if f.Hint.Empty() {
			f.Hint = hint
		}
	}
	return f
}

// notFound reports whether only tasks that do not exist ended the wait.
func (o *healthWait) notFound(r health.Result) bool {
	return !slices.ContainsFunc(r.Targets,
		func(t health.TargetResult) bool { return t.Permanent && t.Last.Kind != health.NoTask })
}

// unhealthyText says which targets did not become healthy in time.
func (o *healthWait) unhealthyText(r health.Result) string {
	what, within := "not healthy", " within "
	if o.group.Options.Invert {
		what, within = "not known to be gone", " after "
		for i, t := range r.Targets {
			switch {
			case t.Healthy || !t.Last.Stays():
			case o.group.onlyExists(i):
				what = "still there"
			case what != "still there":
				what = "still healthy"
			}
		}
	}
	if o.bounds.until {
		return what + " by " + view.Stamp(o.bounds.due)
	}
	return what + within + lasted(o.bounds.timeout)
}

// hints returns for each target that is not healthy what to do; nil when the wait goes on or went
// well.
func (o *healthWait) hints(r health.Result, further []string) []problem.Text {
	if r.Healthy || further != nil || r.Reason == health.Cancelled {
		return nil
	}
	hints := make([]problem.Text, len(r.Targets))
	for i, t := range r.Targets {
		switch {
		case t.Permanent:
			hints[i] = o.permanentHint(i, t)
		case !t.Healthy && r.Reason == health.TimedOut:
			hints[i] = o.timeoutHint(i, t)
		}
	}
	return hints
}

// timeoutHint says what to do about a target that was not healthy in time.
func (o *healthWait) timeoutHint(i int, t health.TargetResult) problem.Text {
	longer := problem.T("give a longer %s", problem.Option("timeout"))
	if o.bounds.until {
		longer = problem.T("give a later %s", problem.Option("until"))
	}
	switch scheme := o.group.Targets[i].Scheme(); {
	case o.group.Options.Invert && !t.Last.Stays():
		return problem.T("%s; what cannot be checked does not count as gone", longer)
	case o.group.Options.Invert:
		return problem.T("%s, or end what is still there", longer)
	case t.Last.Kind == health.OtherProtocol:
		return problem.T("correct the host, the port or the scheme: somebody else answers there")
	case scheme == "docker" && (t.Last.Kind == health.NoSocket || t.Last.Kind == health.Refused):
		return problem.T("start Docker, or name the socket of one that runs, as in DOCKER_HOST=unix:///run/user/1000/docker.sock")
	case scheme == "docker":
		return problem.T("%s, or look at the container: docker logs %s", longer, o.group.Targets[i].Arg())
	case scheme == "file":
		return problem.T("%s, or look at the program that writes the file", longer)
	case scheme == "pid":
		return longer
	case t.Last.Kind == health.Stranded:
		return problem.T("start a runner, which accounts for it: %s", problem.To("run").With("background", true))
	case scheme == "task":
		return problem.T("%s; %s shows the task", longer, problem.To("show", taskID(o.group.Targets[i])))
	}
	return problem.T("look at the service, or %s; calling again in a loop does not help", longer)
}

// permanentHint says what to do about a fault that waiting does not mend.
func (o *healthWait) permanentHint(i int, t health.TargetResult) problem.Text {
	kind, scheme, insecure := t.Last.Kind, o.group.Targets[i].Scheme(), problem.Option("insecure")
	refused := kind == health.Status && slices.Contains([]int{401, 403, 407}, t.Last.Number)
	switch {
	case scheme == "exec":
		return problem.T("correct the command, or give %s if it is still to be installed",
			problem.Option("keep-trying"))
	case scheme == "pid":
		return problem.T("to wait until a process has ended, give %s", problem.Option("invert"))
	case kind == health.FromOne:
		return problem.T("the first occurrence is ID/1; ID alone is the task as a whole")
	case kind == health.OnlyOnce:
		return problem.T("wait for the task itself: task:ID")
	case scheme == "task":
		return problem.T("%s shows every task, %s how one went", cli.EveryTask, problem.To("log", "ID"))
	case kind == health.Denied && strings.HasPrefix(scheme, "grpc"):
		return problem.T("its health service asks for credentials, and none are sent; to wait for its port alone, give tcp://host:port")
	case kind == health.Denied:
		return problem.T("correct the password in the target; without one, a server that demands it counts as ready")
	case kind == health.NoHealthService:
		return problem.T("the server has no health service; to wait for its port alone, give tcp://host:port")
	case kind == health.OtherVersion:
		return problem.T("wait for the port alone, as tcp://host:port")
	case scheme != "http" && !slices.Contains(health.Secured(), scheme):
	case kind == health.WrongName:
		return problem.T("wait for the name it is for, or accept any certificate by %s; tcp://host:port asks for none",
			insecure)
	case kind == health.UnknownAuthority:
		return problem.T("give its authority by %s, or accept any certificate by %s; tcp://host:port asks for none",
			problem.Set("ca", "FILE"), insecure)
	case refused && t.Last.Number == http.StatusProxyAuthRequired:
		return problem.T("give the proxy a name and a password: HTTP_PROXY=http://name:password@host:port; or name the host in NO_PROXY")
	case refused:
		return problem.T("%s accepts it; %s sends credentials",
			problem.Set("status", strconv.Itoa(t.Last.Number)), problem.Set("header", "@FILE"))
	case kind == health.RedirectOther && t.Last.Away == "":
		return problem.T("wait for the new address by its own client, as exec:line, or accept the redirect by %s",
			problem.Set("status", "3xx"))
	case scheme != "http" && scheme != "https":
		return problem.T("correct the target, or wait for the port alone, as tcp://host:port")
	default:
		return problem.T("correct the target, accept the answer by %s, or wait for the port alone, as tcp://host:port",
			problem.Option("status"))
	}
	return problem.T("correct the target, or give %s if somebody else will", problem.Option("keep-trying"))
}
