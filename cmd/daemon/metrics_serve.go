package daemon

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/metrics"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// listenForMetrics opens the address of run --metrics: [HOST]:PORT, where an empty host is
// 127.0.0.1. It returns nil when the call names none.
func listenForMetrics(ctx context.Context, s *cli.Call) (net.Listener, error) {
	if !s.Opt.Has("metrics") {
		return nil, nil
	}
	text := s.Opt.Text("metrics")
	host, port, err := net.SplitHostPort(text)
	if n, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || port != strconv.FormatUint(n, 10) ||
		host != "" && host != "localhost" && net.ParseIP(host) == nil {
		return nil, problem.Of(problem.T("%s is %s, which is not an address", problem.Option("metrics"),
			cli.Quote(text)),
			problem.T("write :9464 for 127.0.0.1:9464, or a full IP address such as 192.0.2.7:9464 or [::]:9464"))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err == nil {
		return l, nil
	}
	hint := "see that the address is one of this machine: ip address"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "another program uses it (ss -ltnp says which), perhaps another runner; choose another port, or :0 for " +
			"any that is free"
	case errors.Is(err, syscall.EACCES):
		hint = "ports below 1024 are for root; choose :9464"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, cli.Failed("nothing can be served at "+net.JoinHostPort(host, port)+": "+err.Error(), hint)
}

// metricsServer serves the numbers of a runner, and whether it is well. It does not go through the
// loop of the runner, except to ask whether that responds.
type metricsServer struct {
	source     metrics.Source
	liveness   *liveness
	collecting sync.Mutex // one request collects numbers at a time
	server     http.Server
}

// serveMetrics serves until it is closed.
func serveMetrics(l net.Listener, source metrics.Source, v *liveness) (closes func()) {
	m := &metricsServer{source: source, liveness: v}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", m.metrics)
	mux.HandleFunc("GET /healthz", m.health)
	m.server = http.Server{Handler: mux, ReadTimeout: requestMost, WriteTimeout: requestMost,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		// The runner does not talk about bad requests of strangers.
		ErrorLog: log.New(io.Discard, "", 0)}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = m.server.Serve(l) // it returns when it is closed
	}()
	return func() {
		ctx, stop := context.WithTimeout(context.Background(), closeMost)
		defer stop()
		if m.server.Shutdown(ctx) != nil {
			_ = m.server.Close() // open requests are cut off
		}
		<-over
	}
}

const (
	// requestMost is how long a request and its answer take at the most.
	requestMost = time.Minute
	// closeMost is for how long an answer that is being given is waited for when the runner ends.
	closeMost = time.Second
)

func (m *metricsServer) metrics(w http.ResponseWriter, r *http.Request) {
	m.collecting.Lock()
	defer m.collecting.Unlock()
	families, err := m.source.Collect(r.Context())
	if err != nil {
		http.Error(w, "the state cannot be read: ouro-timer doctor says why", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_, _ = w.Write(metrics.Text(families)) // an error means that the client has gone
}

// health answers 200 while the loop responds or stands by for another runner, and else 503.
func (m *metricsServer) health(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(r.Context(), answerMost)
	defer stop()
	switch {
	case !m.liveness.leading.Load():
		_, _ = io.WriteString(w, "standing by\n")
	case m.liveness.responds(ctx):
		_, _ = io.WriteString(w, "ok\n")
	default:
		http.Error(w, "the loop does not respond: no answer within "+answerMost.String(), http.StatusServiceUnavailable)
	}
}
