package health

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// dockerSocket is where Docker listens by default.
const dockerSocket = "unix:///var/run/docker.sock"

var container = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`) })

func parseContainer(rest string) (string, error) {
	name := strings.TrimPrefix(rest, "//")
	if !container().MatchString(name) {
		return "", predicate("names no container", `try "docker:web"; docker ps --format '{{.Names}}' lists the names`)
	}
	return name, nil
}

// CheckDocker refuses a DOCKER_HOST at which Docker cannot be asked from here.
func CheckDocker(host string) error {
	if path, ok := strings.CutPrefix(cmp.Or(host, dockerSocket), "unix://"); !ok || path == "" {
		return errors.New("is not a socket (unix:///path)")
	}
	return nil
}

// dockerState is the part of the state of a container that is judged.
type dockerState struct {
	State *struct {
		Status   string
		ExitCode int
		Error    string
		Health   *struct {
			Status string
			Log    []struct{ Output string }
		}
	}
}

// docker asks Docker, or a program with the same API, for the state of a container. The container
// is healthy by its own check, or when it runs and has no check.
// https://docs.docker.com/reference/api/engine/
func (p *prober) docker(ctx context.Context, name string) error {
	path, ok := strings.CutPrefix(cmp.Or(p.Docker, dockerSocket), "unix://")
	if !ok {
		return &fault{Cause: newCause(NoTarget, "DOCKER_HOST is not a socket"), permanent: true, inconclusive: true, rank: wrong}
	}
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader, DialContext: func(context.Context, string, string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err != nil {
			f := explainSocket(err, path)
			f.Beside, f.inconclusive = "", true // it says nothing about the container
			return nil, f
		}
		return newWriteFirstConn(conn), nil
	}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/containers/"+url.PathEscape(name)+"/json", nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", userAgent)
	res, err := transport.RoundTrip(req)
	if err != nil {
		return inconclusive(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return inconclusive(err)
	}
	return judgeDocker(res.StatusCode, body)
}

// inconclusive returns the fault of a Docker that does not answer. It says nothing about the
// container.
func inconclusive(err error) error {
	f := *explain(err, answering)
	f.inconclusive = true
	return &f
}

// judgeDocker judges the answer of Docker.
func judgeDocker(status int, body []byte) error {
	var trouble struct{ Message string }
	if status == http.StatusNotFound && json.Unmarshal(body, &trouble) == nil && trouble.Message != "" {
		return &fault{Cause: newCause(NoContainer, ""), answered: true, rank: wrong}
	}
	var c dockerState
	err := json.Unmarshal(body, &c)
	switch {
	case status != http.StatusOK && json.Unmarshal(body, &trouble) == nil && trouble.Message != "":
		return inconclusive(notReady(trouble.Message))
	case status != http.StatusOK || err != nil || c.State == nil || c.State.Status == "":
		return inconclusive(otherProtocol("Docker", string(body)))
	}
	s := c.State
	switch h := s.Health; {
	case s.Status != "running":
		if s.Status == "exited" || s.Status == "dead" {
			s.Status += ", exit code " + strconv.Itoa(s.ExitCode)
		}
		return notReady(withDetail(s.Status, s.Error))
	case h == nil || h.Status == "" || h.Status == "none" || h.Status == "healthy":
		return nil
	case len(h.Log) > 0:
		return notReady(withDetail(h.Status, h.Log[len(h.Log)-1].Output))
	default:
		return notReady(h.Status)
	}
}
