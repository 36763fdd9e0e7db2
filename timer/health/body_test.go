package health

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestBodyIsMatchedAsItComes has streams that say something and do not end.
func TestBodyIsMatchedAsItComes(t *testing.T) {
	for _, test := range []struct {
		body, re string
		healthy  bool
	}{
		{"ready", "ready", true},
		{"ready", "^re.d", true},
		{"data: ready\n\n", `(?m)ready$`, true},
		{"ready", `ready\z`, false}, // it may go on
		{"ready", `ready$`, false},
		{"ready", `ready\b`, false},
		{"ready. go", `ready\b`, true},
		{"not yet", "ready", false},
	} {
		t.Run(test.body+" "+test.re, func(t *testing.T) {
			t.Parallel()
			l := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(test.body), test.body)
				drain(conn)
			})
			o := Options{Timeout: patience, HTTP: HTTP{Body: regexp.MustCompile(test.re)}}
			if !test.healthy {
				o.Timeout = time.Second
			}
			r := Wait(t.Context(), mustParse(t, "http://"+l.Addr().String()), o)
			if r.Healthy != test.healthy || !r.Healthy && !strings.HasPrefix(r.Targets[0].Last.String(), "no whole body within ") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestSlowExpression: that it takes long is not the fault of who has answered in full.
func TestSlowExpression(t *testing.T) {
	slow := regexp.MustCompile(`(a?b?){400}c`)
	body := strings.Repeat("ab", maxBody/2)
	l := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		drain(conn)
	})
	const timeout = time.Second
	for _, invert := range []bool{false, true} {
		t.Run(fmt.Sprint("inverted ", invert), func(t *testing.T) {
			t.Parallel()
			var first TargetResult
			r := Wait(t.Context(), mustParse(t, "http://"+l.Addr().String()), Options{
				Timeout: 3 * timeout, Attempt: timeout, Invert: invert, HTTP: HTTP{Body: slow},
				Observe: func(_ int, r TargetResult) {
					if r.Attempts == 1 {
						first = r
					}
				},
			})
			if r.Healthy || r.Waited > 3*timeout+slack || first.Last.String() != "the body could not be matched within 1s" {
				t.Errorf("first %+v, then %+v", first, r)
			}
		})
	}
}

// TestLargeBody has a whole MiB come in small pieces, the last of which matches, and one that does so too late.
func TestLargeBody(t *testing.T) {
	for before, want := range map[int]string{maxBody - 5: "", maxBody - 4: "HTTP 200, but the body does not match"} {
		l := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
			io.ReadAtLeast(conn, make([]byte, 4096), 1)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			for left := before; left > 0; left -= 1000 {
				io.WriteString(conn, strings.Repeat(".", min(left, 1000)))
			}
			io.WriteString(conn, "ready")
		})
		o := Options{Attempt: patience, HTTP: HTTP{Body: regexp.MustCompile("ready")}}
		if r := once(t, o, "http://"+l.Addr().String()); r.Last.String() != want {
			t.Errorf("after %d bytes: %+v", before, r)
		}
	}
}
