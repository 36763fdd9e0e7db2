package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/health"
)

// TestHealthHints has what to do about what ended a wait.
func TestHealthHints(t *testing.T) {
	for _, c := range []struct {
		target, fault string
		cause         health.Cause
		status        int
		permanent     bool
		invert        bool
		want, not     string
	}{
		{"https://localhost", "certificate is for a.example, not localhost", health.OtherName, 0, true, false, "the name it is for, or accept any certificate by --insecure", "--status"},
		{"https://localhost", "after a redirect to https://b.example: certificate is signed by an unknown authority", health.UnknownAuthority, 0, true, false, "--ca FILE", "--status"},
		{"tls://localhost:1", "certificate is signed by an unknown authority", health.UnknownAuthority, 0, true, false, "--ca FILE", "--status"},
		{"http://localhost", "HTTP 401", health.Refused, 401, true, false, "--status 401 accepts it; --header @FILE", ""},
		{"http://localhost", "after a redirect to http://b.example: HTTP 403", health.Refused, 403, true, false, "--status 403 accepts it", ""},
		{"http://localhost", "the proxy answers HTTP 407", health.Refused, 407, true, false, "HTTP_PROXY=", "--status"},
		{"http://localhost", "redirected to ftp://localhost, which is neither http nor https", health.LedAway, 0, true, false, "--status 3xx", ""},
		{"exec:x", "exit code 127", "", 0, true, false, "correct the command", "--status"},
		{"http://localhost", "connection refused", "", 0, false, false, "look at the service, or give a longer --timeout", ""},
		{"file:x", "no such file", "", 0, false, false, "what is to write the file", "service"},
		{"pid:1", "is there", "", 0, false, false, "give a longer --timeout", "service"},
		{"task:k7m2", "has not ended", health.StillThere, 0, false, false, "ouro-timer show k7m2", "service"},
		{"tcp://localhost:1", "still accepts connections", health.StillThere, 0, false, true, "end what is still there", "service"},
		{"tcp://localhost:1", "network unreachable", "", 0, false, true, "what cannot be looked at is not taken for gone", "still there"},
	} {
		target, err := health.Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		o := healthOptions{targets: []health.Target{target}}
		o.wait.Invert = c.invert
		r := health.Result{Reason: health.TimedOut, Targets: []health.TargetResult{{LastError: c.fault, Cause: c.cause, Status: c.status, Permanent: c.permanent}}}
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
		targets, faults string
		cause           health.Cause
		invert          bool
		want            string
	}{
		{"tcp://localhost:1", "connection refused", "", false, "not healthy within 1 second"},
		{"tcp://localhost:1", "still accepts connections", health.StillThere, true, "still there after 1 second"},
		{"exec:true", "still succeeds", health.StillThere, true, "still healthy after 1 second"},
		{"exec:true file:x", "still succeeds|is still there", health.StillThere, true, "still there after 1 second"},
		{"tcp://localhost:1", "network unreachable", "", true, "not known to be gone after 1 second"},
	} {
		o := healthOptions{timeout: time.Second}
		o.wait.Invert = c.invert
		r := health.Result{Reason: health.TimedOut}
		faults := strings.Split(c.faults, "|")
		for i, text := range strings.Fields(c.targets) {
			target, err := health.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			o.targets, r.Targets = append(o.targets, target), append(r.Targets, health.TargetResult{LastError: faults[i], Cause: c.cause})
		}
		if got := o.missed(r); got != c.want {
			t.Errorf("%s: %q, want %q", c.targets, got, c.want)
		}
	}
}
