package health

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestInvert holds every kind of fault against the promise: gone, still there, or nothing known.
func TestInvert(t *testing.T) {
	for _, test := range []struct {
		name      string
		scheme    string
		err       error
		healthy   bool
		permanent bool
		last      string
		seen      string
	}{
		{"an answer", "http", nil, false, false, "still answers", ""},
		{"a connection", "tcp", nil, false, false, "still accepts connections", ""},
		{"a name", "dns", nil, false, false, "still resolves", ""},
		{"a file", "file", nil, false, false, "is still there", ""},
		{"a process", "pid", nil, false, false, "still runs", ""},
		{"a task that will not un-end", "task", nil, false, true, "has ended well", ""},
		{"a command", "exec", nil, false, false, "still ends with 0", ""},
		{"refused", "tcp", syscall.ECONNREFUSED, true, false, "", "connection refused"},
		{"an unknown host", "tcp", &net.DNSError{Name: "db", IsNotFound: true}, true, false, "", "unknown host db"},
		{"a wrong status", "http", &fault{Cause: Cause{Kind: Status, Number: 500}, answered: true, rank: wrong}, true, false, "", "HTTP 500"},
		{"a process that has ended", "pid", &fault{Cause: Cause{Kind: HasEnded}, permanent: true}, true, false, "", "the process has ended"},
		{"somebody without our key", "http", &fault{Cause: Cause{Kind: Status, Number: 401}, permanent: true, present: true}, false, false, "still answers: HTTP 401", ""},
		{"no descriptors left", "tcp", syscall.EMFILE, false, false, printable(syscall.EMFILE.Error()), ""},
		{"no such task", "task", &fault{Cause: Cause{Kind: NoTask}, permanent: true, inconclusive: true}, false, true, "no such task", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := Target{text: "it", scheme: test.scheme}
				r := Wait(t.Context(), []Target{target}, Options{
					Invert: true, Timeout: time.Second, probe: func(context.Context, Target) error { return test.err },
				})
				got := r.Targets[0]
				if got.Healthy != test.healthy || got.Permanent != test.permanent || got.Last.String() != test.last || got.Seen.String() != test.seen {
					t.Errorf("got %+v", r)
				}
				if done := test.healthy || test.permanent; done != (r.Attempts == 1) {
					t.Errorf("%d attempts", r.Attempts)
				}
			})
		})
	}
}

// TestInvertAndTimeOut: an attempt that had all its time finds a target gone, one that the end of the wait cut short does not.
func TestInvertAndTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Wait(t.Context(), names("web"), Options{Invert: true, Timeout: time.Minute, Attempt: time.Second, probe: hang})
		if !r.Healthy || r.Waited != time.Second || r.Targets[0].Seen.String() != "no answer within 1s" {
			t.Errorf("a silent peer: %+v", r)
		}
		for _, timeout := range []time.Duration{300 * time.Millisecond, time.Second} {
			r = Wait(t.Context(), names("web"), Options{Invert: true, Timeout: timeout, Attempt: time.Second, probe: hang})
			if r.Healthy || r.Reason != TimedOut || !strings.HasPrefix(r.Targets[0].Last.String(), "no answer within ") {
				t.Errorf("cut short after %v: %+v", timeout, r)
			}
		}
	})
}

// TestInvertRealPeers looks at peers that are there, in one way or another, and then are not.
func TestInvertRealPeers(t *testing.T) {
	locked := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	locked.Config.ErrorLog = log.New(io.Discard, "", 0)
	locked.StartTLS()
	defer locked.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ready := t.TempDir() + "/ready"
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		target, want string
		insecure     bool
		stop         func() error
	}{
		{locked.URL, "still answers: certificate is signed by an unknown authority", false, nil},
		{"tls://" + locked.Listener.Addr().String(), "still answers: certificate is signed by an unknown authority", false, nil},
		{locked.URL, "still answers: HTTP 403", true, func() error { locked.Close(); return nil }},
		{"tcp://" + tcp.Addr().String(), "still accepts connections", false, tcp.Close},
		{"file:" + ready, "is still there", false, func() error { return os.Remove(ready) }},
	} {
		o := Options{Invert: true, Insecure: test.insecure}
		if r := once(t, o, test.target); r.Healthy || r.Permanent || r.Last.String() != test.want {
			t.Errorf("%s: %+v, want %q", test.target, r, test.want)
		}
		if test.stop == nil {
			continue
		}
		o.Timeout = patience
		stop := test.stop
		o.Observe = func(_ int, r TargetResult) {
			if r.Attempts == 1 {
				if err := stop(); err != nil {
					t.Error(err)
				}
			}
		}
		if r := Wait(t.Context(), mustParse(t, test.target), o); !r.Healthy || r.Attempts < 2 {
			t.Errorf("%s: stopped, but %+v", test.target, r)
		}
	}
	o := Options{Invert: true, lookup: func(context.Context, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "gone.example", IsNotFound: true}
	}}
	if r := once(t, o, "dns:gone.example"); !r.Healthy {
		t.Errorf("an unknown host: %+v", r)
	}
}

// TestInvertNeedsSight: what may not be looked at is not gone.
func TestInvertNeedsSight(t *testing.T) {
	for _, err := range []error{syscall.EACCES, syscall.EIO, syscall.ELOOP} {
		if f, seen := opposite(absent(&os.PathError{Op: "stat", Path: "x", Err: err}, NoFile), Target{scheme: "file"}); f == nil || f.permanent || !seen.IsZero() {
			t.Errorf("%v: %+v", err, f)
		}
	}
	for _, err := range []error{syscall.ENOENT, syscall.ENOTDIR} {
		if f, seen := opposite(absent(&os.PathError{Op: "stat", Path: "x", Err: err}, NoFile), Target{scheme: "file"}); f != nil || seen.IsZero() {
			t.Errorf("%v: %+v, seen %q", err, f, seen)
		}
	}
	if f := explainSocket(errors.New("anything"), "x"); !f.inconclusive {
		t.Errorf("got %+v", f)
	}
}
