package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	outages     = 20 // for each waiter and kind of service
	longOutage  = time.Minute
	soonest     = 300 * time.Millisecond // the service comes up at a random moment from here
	latest      = 3 * time.Second        // to here, after the wait began
	waitOnAge   = 2 * time.Minute        // for npm to fetch it
	neverWaited = time.Minute            // a waiter that takes longer is given up
)

// waiter is a program that waits for a service, and how to call it. An empty argv says that it
// cannot wait for such a service.
type waiter struct {
	name    string
	missing string // why it is not measured, or empty
	argv    func(kind, address string, limit time.Duration) []string
}

// waiters returns ouro-timer and its peers. npm, if it is installed, fetches wait-on into dir.
func waiters(ouro, dir string) []waiter {
	list := []waiter{
		{name: "ouro-timer health-wait", argv: func(kind, address string, limit time.Duration) []string {
			return []string{ouro, "health-wait", "-q", "--timeout", limit.String(), kind + "://" + address}
		}},
		{name: "wait-for-it (Debian)", argv: func(kind, address string, limit time.Duration) []string {
			if kind != "tcp" {
				return nil
			}
			return []string{"wait-for-it", "-q", "-t", fmt.Sprint(int(limit.Seconds())), address}
		}},
		{name: "wait-on (npm)", argv: func(kind, address string, limit time.Duration) []string {
			what := map[string]string{"tcp": "tcp:", "http": "http-get://"}[kind] + address
			return []string{filepath.Join(dir, "node_modules", ".bin", "wait-on"), "-t", fmt.Sprint(limit.Milliseconds()), what}
		}},
	}
	if _, err := exec.LookPath("wait-for-it"); err != nil {
		list[1].missing = "not here"
	}
	if _, err := exec.LookPath("npm"); err != nil {
		list[2].missing = "not here"
		return list
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitOnAge)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, "wait-on")
	install.Dir, install.WaitDelay = dir, time.Second
	if err := install.Run(); err != nil {
		list[2].missing = "not here: npm install: " + err.Error()
	}
	return list
}

// held is a port of loopback that refuses connections until open is called.
type held struct {
	fd      int
	address string
}

func hold() (held, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return held{}, err
	}
	h := held{fd: fd}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return held{}, errors.Join(err, h.close())
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return held{}, errors.Join(err, h.close())
	}
	h.address = fmt.Sprint("127.0.0.1:", name.(*unix.SockaddrInet4).Port)
	return h, nil
}

func (h held) close() error { return unix.Close(h.fd) }

// open makes the port accept connections, and returns from when on it does.
func (h held) open() (net.Listener, time.Time, error) {
	if err := unix.Listen(h.fd, 128); err != nil {
		return nil, time.Time{}, errors.Join(err, h.close())
	}
	up := time.Now()
	file := os.NewFile(uintptr(h.fd), "service")
	defer file.Close()
	l, err := net.FileListener(file)
	return l, up, err
}

// health measures how soon a wait for a service ends after the service has come up, and how often
// waiters ask before.
func health(ouro, dir string) error {
	dir = filepath.Join(dir, "wait-on")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	list := waiters(ouro, dir)
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		os.Setenv(name, "127.0.0.1")
	}
	if err := noticed(list); err != nil {
		return err
	}
	return knocks(list)
}

// noticed starts services at random moments after the wait began. The moments are the same for each
// waiter.
func noticed(list []waiter) error {
	fmt.Printf("\n%-44s %10s %10s %8s\n", fmt.Sprintf("service up until the wait exits, ms, %d outages", outages), "p50", "p99", "ratio")
	for _, kind := range []string{"tcp", "http"} {
		late := make([][]float64, len(list))
		for range outages {
			after := soonest + rand.N(latest-soonest)
			for i, w := range list {
				if w.missing != "" || w.argv(kind, "", 0) == nil {
					continue
				}
				ms, err := w.notices(kind, after)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", w.name, kind, err)
				}
				late[i] = append(late[i], ms)
			}
		}
		for i, w := range list {
			switch name := kind + ": " + w.name; {
			case w.missing != "":
				fmt.Printf("%-44s %10s\n", name, w.missing)
			case len(late[i]) == 0:
				fmt.Printf("%-44s %10s\n", name, "knows none")
			default:
				p50 := at(late[i], 50)
				fmt.Printf("%-44s %10.1f %10.1f %8.3f\n", name, p50, at(late[i], 99), at(late[0], 50)/p50)
			}
		}
	}
	return nil
}

// notices begins a wait, brings the service up, and returns how many milliseconds later the wait
// ended.
func (w waiter) notices(kind string, after time.Duration) (float64, error) {
	port, err := hold()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), neverWaited)
	defer cancel()
	argv := w.argv(kind, port.address, neverWaited)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		return 0, errors.Join(err, port.close())
	}
	time.Sleep(after)
	l, up, err := port.open()
	if err != nil {
		cmd.Process.Kill()
		return 0, errors.Join(err, cmd.Wait())
	}
	defer l.Close()
	go serve(l, kind, http.StatusOK, nil)
	if err := cmd.Wait(); err != nil {
		return 0, err
	}
	return float64(time.Since(up).Microseconds()) / 1000, nil
}

// serve is the service: over tcp it accepts and hangs up, over http it answers with status. It
// counts requests.
func serve(l net.Listener, kind string, status int, requests *atomic.Int64) {
	if kind == "http" {
		http.Serve(l, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if requests != nil {
				requests.Add(1)
			}
			rw.WriteHeader(status)
		}))
		return
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		conn.Close()
	}
}

// knocks counts what each waiter does in an outage of a minute, all at the same time. A tcp port
// that refuses cannot count, so the waiter's own calls of connect(2) to it are counted, by strace.
// An http service that answers 503 can.
func knocks(list []waiter) error {
	fmt.Printf("\n%-44s %14s %14s\n", fmt.Sprintf("attempts in an outage of %v", longOutage), "connect(2)", "requests, 503")
	counts := make([][2]string, len(list))
	failed := make([]error, 2*len(list))
	var all sync.WaitGroup
	for i, w := range list {
		if w.missing != "" {
			counts[i] = [2]string{w.missing, ""}
			continue
		}
		all.Go(func() { counts[i][0], failed[2*i] = w.connects() })
		all.Go(func() { counts[i][1], failed[2*i+1] = w.requests() })
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for i, w := range list {
		fmt.Printf("%-44s %14s %14s\n", w.name, counts[i][0], counts[i][1])
	}
	return nil
}

// connects counts the calls of connect(2) of a waiter to a port that refuses connections.
func (w waiter) connects() (string, error) {
	if _, err := exec.LookPath("strace"); err != nil {
		return "strace not here", nil
	}
	port, err := hold()
	if err != nil {
		return "", err
	}
	defer port.close()
	trace, err := os.CreateTemp("", "ouro-bench-")
	if err != nil {
		return "", err
	}
	defer os.Remove(trace.Name())
	defer trace.Close()
	argv := append([]string{"strace", "-f", "-qq", "-e", "trace=connect", "-o", trace.Name()}, w.argv("tcp", port.address, longOutage)...)
	if err := inVain(argv); err != nil {
		return "", err
	}
	text, err := os.ReadFile(trace.Name())
	if err != nil {
		return "", err
	}
	_, number, _ := strings.Cut(port.address, ":")
	return fmt.Sprint(strings.Count(string(text), "sin_port=htons("+number+")")), nil
}

// requests counts the requests of a waiter to a service that answers 503.
func (w waiter) requests() (string, error) {
	if w.argv("http", "", 0) == nil {
		return "knows none", nil
	}
	port, err := hold()
	if err != nil {
		return "", err
	}
	l, _, err := port.open()
	if err != nil {
		return "", err
	}
	defer l.Close()
	var n atomic.Int64
	go serve(l, "http", http.StatusServiceUnavailable, &n)
	if err := inVain(w.argv("http", l.Addr().String(), longOutage)); err != nil {
		return "", err
	}
	return fmt.Sprint(n.Load()), nil
}

// inVain runs a waiter until the end of the outage, when it must give up.
func inVain(argv []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*longOutage)
	defer cancel()
	begin := time.Now()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return fmt.Errorf("%s found a service that is not there", strings.Join(argv, " "))
	case !errors.As(err, &exit):
		return err
	case time.Since(begin) < longOutage*9/10:
		return fmt.Errorf("%s gave up after %v", strings.Join(argv, " "), time.Since(begin))
	}
	return nil
}
