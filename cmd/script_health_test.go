package cmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Sessions wait for real services. With OURO_TEST_PEER in its environment the program is such a service instead:
//
//	http FILE           a web server, see peerAnswer; its URL is written to FILE once it listens
//	https FILE DAYS     the same with a certificate for localhost of its own, for so many days more, in FILE.pem
//	tcp FILE [PORT]     accepts connections; its target is written to FILE
//	port FILE           nothing: a target with a port that nobody has is written to FILE
//	unix PATH           accepts connections on a socket
//	docker FILE PATH    Docker's answers on a socket: containers up, plain, ill and gone; FILE is written once it listens
//	says FILE TEXT      says TEXT, with escapes as Go has them, to whoever connects; its host and port are written to FILE
func init() {
	if os.Getenv("OURO_TEST_PEER") == "" {
		return
	}
	if err := peer(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func peer(args []string) error {
	port := "0"
	if args[0] == "tcp" && len(args) > 2 {
		port = args[2][strings.LastIndexByte(args[2], ':')+1:]
	}
	network, address := "tcp", "127.0.0.1:"+port
	if args[0] == "unix" || args[0] == "docker" {
		network, address = "unix", args[len(args)-1]
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	// Whoever reads the file reads all of it.
	tell := func(text string) error {
		if err := os.WriteFile(args[1]+".new", []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(args[1]+".new", args[1])
	}
	switch args[0] {
	case "http":
		if err := tell("http://localhost:" + port); err != nil {
			return err
		}
		return http.Serve(l, http.HandlerFunc(peerAnswer))
	case "https":
		days, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		config, text, err := ownCertificate(days)
		if err != nil {
			return err
		}
		if err := os.WriteFile(args[1]+".pem", text, 0o600); err != nil {
			return err
		}
		if err := tell("localhost:" + port); err != nil {
			return err
		}
		return http.Serve(tls.NewListener(l, config), http.HandlerFunc(peerAnswer))
	case "port":
		l.Close()
		return tell("tcp://127.0.0.1:" + port)
	case "docker":
		if err := tell("up"); err != nil {
			return err
		}
		return http.Serve(l, http.HandlerFunc(dockerAnswer))
	case "says":
		text, err := strconv.Unquote(`"` + args[2] + `"`)
		if err != nil {
			return err
		}
		if err := tell("127.0.0.1:" + port); err != nil {
			return err
		}
		for {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			go func() {
				defer conn.Close()
				io.WriteString(conn, text)
				io.Copy(io.Discard, conn)
			}()
		}
	case "tcp":
		if err := tell("tcp://127.0.0.1:" + port); err != nil {
			return err
		}
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		conn.Close()
	}
}

var peerAsked atomic.Int64

// peerAnswer answers by the path: /401 with that status, /name with 200 when the request has the header X-Name, else with 400,
// /json with some JSON, /method with the method as the body, /third with 200 but for every third request.
func peerAnswer(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	status, err := strconv.Atoi(path)
	switch {
	case err == nil:
	case path == "name" && r.Header.Get("X-Name") == "", path == "third" && peerAsked.Add(1)%3 == 0:
		status = http.StatusBadRequest
	default:
		status = http.StatusOK
	}
	w.WriteHeader(status)
	if path == "json" {
		fmt.Fprint(w, `{"status": "starting", "checks": [{"name": "db", "ok": true}]}`)
		return
	}
	fmt.Fprintf(w, "method %s, name %q, ready\n", r.Method, r.Header.Get("X-Name"))
}

// dockerAnswer answers as the engine of Docker does.
func dockerAnswer(w http.ResponseWriter, r *http.Request) {
	state, ok := map[string]string{
		"up":    `{"Status": "running", "Health": {"Status": "healthy", "Log": []}}`,
		"plain": `{"Status": "running"}`,
		"ill":   `{"Status": "running", "Health": {"Status": "unhealthy", "Log": [{"Output": "fine"}, {"Output": "curl: (7) refused\n"}]}}`,
		"gone":  `{"Status": "exited", "ExitCode": 137}`,
	}[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/containers/"), "/json")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		state = `null, "message": "No such container: none"`
	}
	fmt.Fprintf(w, `{"State": %s}`, state)
}

// ownCertificate is a certificate for localhost that its holder signed.
func ownCertificate(days int) (*tls.Config, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	plan := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Duration(days)*24*time.Hour + time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &plan, &plan, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, text, nil
}
