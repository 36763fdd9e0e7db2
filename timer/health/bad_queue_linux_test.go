package health

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestFullQueue has servers that listen and never accept, with no room for one connection more: what a hung program
// looks like from outside. When the queue is emptied, they are there.
func TestFullQueue(t *testing.T) {
	for _, test := range []struct {
		network, want string
		family        int
		address       unix.Sockaddr
	}{
		{"tcp", "no connection within ", unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}},
		{"unix", "the queue of connections is full", unix.AF_UNIX, &unix.SockaddrUnix{Name: t.TempDir() + "/app.sock"}},
	} {
		t.Run(test.network, func(t *testing.T) {
			fd, err := unix.Socket(test.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Bind(fd, test.address); err != nil {
				t.Fatal(err)
			}
			if err := unix.Listen(fd, 0); err != nil { // one connection fits
				t.Fatal(err)
			}
			file := os.NewFile(uintptr(fd), "")
			l, err := net.FileListener(file)
			file.Close()
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			target := "tcp://" + l.Addr().String()
			if test.network == "unix" {
				target = "unix://" + l.Addr().String()
			}
			guest, err := net.Dial(test.network, l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer guest.Close()

			var first string
			r := Wait(t.Context(), mustParse(t, target), Options{
				Timeout: time.Minute, Attempt: 300 * time.Millisecond,
				Observe: func(_ int, r TargetResult) {
					if first == "" && !r.Healthy {
						first = r.Last.String()
						go func() {
							for {
								conn, err := l.Accept()
								if err != nil {
									return
								}
								conn.Close()
							}
						}()
					}
				},
			})
			if !r.Healthy || !strings.HasPrefix(first, test.want) {
				t.Errorf("%q, then %+v", first, r)
			}
		})
	}
}
