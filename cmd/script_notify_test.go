package cmd

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/notify/notifytest"
)

// Sessions of notify tell real servers. With OURO_TEST_POST in its environment the program is such a server instead, which writes where
// it is to FILE once it listens, and appends what it gets to FILE.log:
//
//	web FILE ANSWER...      answers with each ANSWER in turn, the last again and again: STATUS, STATUS+BODY, STATUS+BODY+HEADER, or hang
//	webs FILE ANSWER...     the same by TLS, with a certificate of its own in FILE.pem
//	smtp FILE [KEY=VALUE]…  takes mail; KEY is tls (starttls or tls, with a certificate in FILE.pem), user, password, auth, or a command
//	                        that is answered with VALUE
//	bus FILE [hang]         is the desktop on the session bus
func init() {
	if os.Getenv("OURO_TEST_POST") == "" {
		return
	}
	if err := poster(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "poster:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// logbook appends to a file, one entry at a time.
type logbook struct {
	mu   sync.Mutex
	path string
}

func (l *logbook) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "poster:", err)
		return
	}
	defer f.Close()
	fmt.Fprintln(f, text)
}

func poster(args []string) error {
	file := args[1]
	book := &logbook{path: file + ".log"}
	tell := func(text string) error {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(file+".new", file)
	}
	if args[0] == "bus" {
		return desktop(book, func() error { return tell("ready") }, len(args) > 2)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	config, text, err := notifytest.Certificate("", time.Now().Add(time.Hour))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".pem", text, 0o600); err != nil {
		return err
	}
	switch args[0] {
	case "web", "webs":
		w := &notifytest.Web{}
		for _, a := range args[2:] {
			w.Answers = append(w.Answers, webAnswer(a))
		}
		scheme := "http"
		if args[0] == "webs" {
			scheme, l = "https", tls.NewListener(l, config)
		}
		if err := tell(scheme + "://127.0.0.1:" + port); err != nil {
			return err
		}
		return w.Serve(l, func(asked string) { book.add(strings.ReplaceAll(asked, "\r\n", "\n")) })
	case "smtp":
		s := &notifytest.SMTP{Fault: map[string]string{}}
		for _, a := range args[2:] {
			switch key, value, _ := strings.Cut(a, "="); key {
			case "tls":
				s.TLS, s.Whole = config, value == "tls"
			case "user":
				s.User = value
			case "password":
				s.Password = value
			case "auth":
				s.Auth = value
			default:
				s.Fault[key] = value
			}
		}
		if err := tell(port); err != nil {
			return err
		}
		return s.Serve(l, func(m notifytest.Mail) {
			book.add(fmt.Sprintf("mail from %s to %s, encrypted %v, login %q\n%s", m.From, m.To, m.Encrypted, m.Login, strings.ReplaceAll(m.Data, "\r\n", "\n")))
		})
	}
	return fmt.Errorf("there is no %s", args[0])
}

// webAnswer reads STATUS+BODY+HEADER.
func webAnswer(text string) string {
	if text == "hang" {
		return ""
	}
	parts := append(strings.SplitN(text, "+", 3), "", "")
	status, err := strconv.Atoi(parts[0])
	if err != nil {
		panic(err)
	}
	if parts[2] == "" {
		return notifytest.Answer(status, parts[1])
	}
	return notifytest.Answer(status, parts[1], parts[2])
}

// desktopNote is a notification as the desktop got it.
type desktopNote struct {
	App     string `json:"app"`
	Summary string `json:"summary"`
	Body    string `json:"body"`
}

func (l *logbook) show(s desktopNote) {
	b, _ := json.Marshal(s)
	l.add(string(b))
}
