package notify

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// asked is a request as it came in.
type asked struct {
	method, host, uri string
	header            http.Header
	body              string
}

// world is a network of the test's own: every host is the same server, whose certificate is signed by an authority of the test,
// and it is reached by a proxy.
type world struct {
	proxy string // its URL
	ca    *x509.CertPool

	mu     sync.Mutex
	answer http.HandlerFunc
	asked  []asked
	down   bool // the proxy reaches nobody
}

// newWorld starts the server and the proxy, which end with the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{}
	cert, pemCA := certificates(t)
	w.ca = x509.NewCertPool()
	if !w.ca.AppendCertsFromPEM(pemCA) {
		t.Fatal("the authority cannot be read")
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.asked = append(w.asked, asked{r.Method, r.Host, r.RequestURI, r.Header.Clone(), string(body)})
		answer := w.answer
		w.mu.Unlock()
		answer(rw, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // certificates are refused on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	w.proxy = "http://" + w.serve(t, server.Listener.Addr().String())
	return w
}

// serve is a proxy that leads every CONNECT to the one address.
func (w *world) serve(t *testing.T, to string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil || r.Method != http.MethodConnect {
					return
				}
				w.mu.Lock()
				down := w.down
				w.mu.Unlock()
				if down {
					fmt.Fprint(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
					return
				}
				s, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer s.Close()
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
				go func() {
					io.Copy(s, c)
					s.(*net.TCPConn).CloseWrite()
				}()
				io.Copy(c, s)
			}()
		}
	}()
	return l.Addr().String()
}

// certificates are one for the hosts of the tests, and the authority that signed it.
func certificates(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	sign := func(c, by *x509.Certificate, k, with *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, by, &k.PublicKey, with)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	from, to := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	caKey, leafKey := key(), key()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the test's own"}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "everybody"}, NotBefore: from, NotAfter: to,
		DNSNames: []string{"*.example.org", "hooks.slack.com", "slack.com", "discord.com", "api.telegram.org", "api.pushover.net",
			"acme.webhook.office.com", "chat.googleapis.com", "events.pagerduty.com", "api.opsgenie.com", "prod-12.westus.logic.azure.com"},
	}
	caDER := sign(ca, ca, caKey, caKey)
	leafDER := sign(leaf, ca, leafKey, caKey)
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: leafKey},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
}

// env is the world as sendService sees it; a proxy given is in the place of that of the world, and nobody trusted is as it says.
func (w *world) env(changes ...string) Env {
	values := map[string]string{"HTTPS_PROXY": w.proxy}
	for i := 0; i+1 < len(changes); i += 2 {
		values[changes[i]] = changes[i+1]
	}
	roots := w.ca
	if values["ROOTS"] == "none" {
		roots = x509.NewCertPool()
	}
	return Env{Now: time.Now, Roots: roots, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(values["HTTPS_PROXY"]) }}
}

// answers has the server answer with the replies in turn, the last one for ever, and forgets what was asked.
func (w *world) answers(list ...http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	w.asked = nil
	w.answer = func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		h := list[min(n, len(list)-1)]
		n++
		w.mu.Unlock()
		h(rw, r)
	}
}

// requests are those that came since the last call of answers.
func (w *world) requests() []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// says is an answer. Headers are pairs.
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			rw.Header().Set(headers[i], headers[i+1])
		}
		rw.WriteHeader(status)
		io.WriteString(rw, body)
	}
}

// breaksOff ends the connection in the middle of the answer.
func breaksOff(body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", fmt.Sprint(len(body)+10))
		io.WriteString(rw, body)
		rw.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// send tells by the service, with plenty of time.
func (w *world) send(t *testing.T, to string, m Message, changes ...string) (string, *Error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	detail, err := Send(ctx, state.Channel{Name: "mine", URL: to, Timeout: "5m"}, m, w.env(changes...))
	if err == nil {
		return detail, nil
	}
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	if strings.ContainsFunc(e.Text, plain.Control) {
		t.Errorf("the error has control characters in it: %q", e.Text)
	}
	return detail, e
}
