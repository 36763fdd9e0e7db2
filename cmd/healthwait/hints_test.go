package healthwait

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/health"
)

// TestHealthHints has what to do about what ended a wait.
func TestHealthHints(t *testing.T) {
	for _, c := range []struct {
		target    string
		fault     health.Cause
		permanent bool
		invert    bool
		want, not string
	}{
		{"https://localhost", health.Cause{Kind: health.WrongName, Subject: "a.example", Other: "localhost"}, true, false, "the name it is for, or accept any certificate by --insecure", "--status"},
		{"https://localhost", health.Cause{Kind: health.UnknownAuthority, Away: "https://b.example"}, true, false, "--ca FILE", "--status"},
		{"tls://localhost:1", health.Cause{Kind: health.UnknownAuthority}, true, false, "--ca FILE", "--status"},
		{"http://localhost", health.Cause{Kind: health.Status, Number: 401}, true, false, "--status 401 accepts it; --header @FILE", ""},
		{"http://localhost", health.Cause{Kind: health.Status, Number: 403, Away: "http://b.example"}, true, false, "--status 403 accepts it", ""},
		{"http://localhost", health.Cause{Kind: health.Status, Number: 407, Proxy: true}, true, false, "HTTP_PROXY=", "--status"},
		{"http://localhost", health.Cause{Kind: health.RedirectOther, Subject: "ftp://localhost"}, true, false, "--status 3xx", ""},
		{"exec:x", health.Cause{Kind: health.ExitCode, Number: 127}, true, false, "correct the command", "--status"},
		{"http://localhost", health.Cause{Kind: health.Refused}, false, false, "look at the service, or give a longer --timeout", ""},
		{"file:x", health.Cause{Kind: health.NoFile}, false, false, "the program that writes the file", "service"},
		{"pid:1", health.Cause{Kind: health.NoProcess}, false, false, "give a longer --timeout", "service"},
		{"task:k7m2", health.Cause{Kind: health.NotEnded}, false, false, "ouro-timer show k7m2", "service"},
		{"tcp://localhost:1", health.Cause{Kind: health.StillAccepts}, false, true, "end what is still there", "service"},
		{"tcp://localhost:1", health.Cause{Kind: health.Unreachable, Subject: "network unreachable"}, false, true, "what cannot be checked does not count as gone", "still there"},
	} {
		target, err := health.Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		o := healthWait{group: Group{Targets: []health.Target{target}}}
		o.group.Options.Invert = c.invert
		r := health.Result{Reason: health.TimedOut, Targets: []health.TargetResult{{Last: c.fault, Permanent: c.permanent}}}
		if c.permanent {
			r.Reason = health.Permanent
		}
		got := o.hints(r, nil)[0].String()
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s: %q, want %q and not %q", c.target, c.fault, got, c.want, c.not)
		}
		if r.Reason = health.Cancelled; o.hints(r, nil) != nil {
			t.Errorf("%s: a hint when it was cancelled", c.target)
		}
	}
}

// TestHealthMissed is what is said when the time is up.
func TestHealthMissed(t *testing.T) {
	for _, c := range []struct {
		targets string
		faults  []health.Kind
		invert  bool
		want    string
	}{
		{"tcp://localhost:1", []health.Kind{health.Refused}, false, "not healthy within 1 second"},
		{"tcp://localhost:1", []health.Kind{health.StillAccepts}, true, "still there after 1 second"},
		{"exec:true", []health.Kind{health.StillZero}, true, "still healthy after 1 second"},
		{"exec:true file:x", []health.Kind{health.StillZero, health.StillThere}, true, "still there after 1 second"},
		{"tcp://localhost:1", []health.Kind{health.Unreachable}, true, "not known to be gone after 1 second"},
	} {
		o := healthWait{bounds: bounds{timeout: time.Second}}
		o.group.Options.Invert = c.invert
		r := health.Result{Reason: health.TimedOut}
		for i, text := range strings.Fields(c.targets) {
			target, err := health.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			o.group.Targets, r.Targets = append(o.group.Targets, target), append(r.Targets, health.TargetResult{Last: health.Cause{Kind: c.faults[i]}})
		}
		if got := o.unhealthyText(r); got != c.want {
			t.Errorf("%s: %q, want %q", c.targets, got, c.want)
		}
	}
}
