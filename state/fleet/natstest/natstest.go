// Package natstest starts NATS servers for tests, on loopback: processes of their own, so that they can be killed and stopped.
package natstest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Binary is where the server is; Go builds it from the module that go.mod names as a tool, once.
var Binary = sync.OnceValues(func() (string, error) {
	ask := func() (string, error) {
		out, err := exec.Command("go", "tool", "-n", "nats-server").Output()
		return strings.TrimSpace(string(out)), err
	}
	path, err := ask()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := exec.Command("go", "tool", "nats-server", "--version").Run(); err != nil { // it is built by its first use
		return "", err
	}
	return ask()
})

// Servers are the servers of a cluster, or one.
type Servers struct {
	ports []int
	procs []*exec.Cmd
	args  [][]string
	logs  []string
	links [][]*Link // from each to each, where they were asked for
	small []string  // folders that are file systems of their own, one a server
}

// Start starts n servers for a test. Where there are none to be had, it is skipped.
func Start(t testing.TB, n int, settings ...string) *Servers {
	return start(t, n, false, settings)
}

// StartLinked starts n servers that reach each other only by links, and whose disks can be filled, where this process may mount something.
func StartLinked(t testing.TB, n int, settings ...string) *Servers {
	return start(t, n, true, settings)
}

func start(t testing.TB, n int, linked bool, settings []string) *Servers {
	t.Helper()
	if _, err := Binary(); err != nil {
		t.Skipf("there is no nats-server, and Go cannot build one: %v", err)
	}
	s, err := begin(t.TempDir(), n, linked, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.End)
	return s
}

// Begin starts n servers that wait for the disk at each commit, and keep what they keep in a folder; settings are further lines of their configuration.
func Begin(dir string, n int, settings ...string) (*Servers, error) {
	return begin(dir, n, false, settings)
}

func begin(dir string, n int, linked bool, settings []string) (*Servers, error) {
	path, err := Binary()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Servers{procs: make([]*exec.Cmd, n)}
	var clusterPorts []string // where servers listen for each other
	for range n {
		port, err := freePort()
		other, also := freePort()
		if err := errors.Join(err, also); err != nil {
			return nil, err
		}
		s.ports, clusterPorts = append(s.ports, port), append(clusterPorts, fmt.Sprint("127.0.0.1:", other))
	}
	if linked {
		if err := s.link(clusterPorts); err != nil {
			return nil, err
		}
		s.mount(dir)
	}
	for i, port := range s.ports {
		config := filepath.Join(dir, fmt.Sprintf("n%d.conf", i+1))
		text := fmt.Sprintf("server_name: n%d\nlisten: \"127.0.0.1:%d\"\njetstream { store_dir: %q, sync_interval: always }\n", i+1, port, filepath.Join(dir, fmt.Sprint(i+1)))
		text += strings.Join(settings, "\n") + "\n"
		if n > 1 {
			var routes []string
			for j, to := range clusterPorts {
				if linked && i != j {
					to = s.links[i][j].Addr()
				}
				routes = append(routes, "nats://"+to)
			}
			text += fmt.Sprintf("cluster { name: test, listen: %q, routes: [%s]", clusterPorts[i], strings.Join(routes, ", "))
			if linked {
				text += `, advertise: "127.0.0.1:1"` // nobody finds another way
			}
			text += " }\n"
		}
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			return nil, err
		}
		s.logs = append(s.logs, config+".log")
		s.args = append(s.args, []string{path, "-c", config, "-l", config + ".log"})
		if err := s.Up(i); err != nil {
			s.End()
			return nil, err
		}
	}
	return s, nil
}

// link makes the links between servers.
func (s *Servers) link(to []string) error {
	for i := range to {
		s.links = append(s.links, make([]*Link, len(to)))
		for j := range to {
			if i == j {
				continue
			}
			k, err := NewLink(to[j])
			if err != nil {
				return err
			}
			s.links[i][j] = k
		}
	}
	return nil
}

// Links are the links from a server to the others, and theirs to it.
func (s *Servers) Links(i int) (list []*Link) {
	for j := range s.links {
		if i != j {
			list = append(list, s.links[i][j], s.links[j][i])
		}
	}
	return list
}

// End kills all servers.
func (s *Servers) End() {
	for i := range s.procs {
		s.Kill(i)
		for _, k := range s.Links(i) {
			k.Close()
		}
	}
	s.unmount()
}

// URL is the address of the servers.
func (s *Servers) URL() string {
	var list []string
	for _, port := range s.ports {
		list = append(list, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	return strings.Join(list, ",")
}

// Up starts the i-th server, from 0, and waits until it listens.
func (s *Servers) Up(i int) error {
	c := exec.Command(s.args[i][0], s.args[i][1:]...)
	if err := c.Start(); err != nil {
		return err
	}
	s.procs[i] = c
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if s.listens(i) {
			return nil
		}
	}
	log, _ := os.ReadFile(s.logs[i])
	return fmt.Errorf("the server does not listen: %s", log)
}

func (s *Servers) listens(i int) bool {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.ports[i]))
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// Kill ends the i-th server at once.
func (s *Servers) Kill(i int) {
	if s.procs[i] != nil {
		_ = s.procs[i].Process.Kill()
		_ = s.procs[i].Wait()
		s.procs[i] = nil
	}
}

// Signal sends the i-th server a signal.
func (s *Servers) Signal(i int, sig os.Signal) { _ = s.procs[i].Process.Signal(sig) }

// freePort returns a port that nobody listens on. It is not one of those that systems give to outgoing connections, so it is free again when a server is
// started anew.
func freePort() (port int, err error) {
	for range 100 {
		port = 10_000 + rand.IntN(20_000)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// Wired is the address of the servers over links that nobody else uses.
func (s *Servers) Wired() (url string, links []*Link, err error) {
	var list []string
	for _, port := range s.ports {
		k, err := NewLink(fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return "", links, err
		}
		links, list = append(links, k), append(list, "nats://"+k.Addr())
	}
	return strings.Join(list, ","), links, nil
}
