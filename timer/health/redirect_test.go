package health

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestRedirectElsewhereGetsNoSecrets sends a request with secrets to a server that passes it on, first within its own
// house, then to another, which passes it on as well and then sends it back.
func TestRedirectElsewhereGetsNoSecrets(t *testing.T) {
	const secret = "hunter2"
	var first, other *httptest.Server
	var path []string
	see := func(w http.ResponseWriter, r *http.Request, next string) {
		path = append(path, r.URL.Path)
		if next != "" {
			http.Redirect(w, r, next, http.StatusTemporaryRedirect)
		}
	}
	knows := func(r *http.Request) bool {
		_, pass, _ := r.BasicAuth()
		return pass == secret && r.Header.Get("Cookie") == "session="+secret && r.Header.Get("X-Api-Key") == secret && r.Host == "app.example"
	}
	clean := func(r *http.Request, host string) bool {
		return r.Host == host && !strings.Contains(fmt.Sprint(r.URL, r.Header), secret) && r.Header["Authorization"] == nil &&
			r.Header["Referer"] == nil && r.Header.Get("User-Agent") == "me" && r.Header.Get("Accept") == "text/plain"
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/start", func(w http.ResponseWriter, r *http.Request) {
		if !knows(r) {
			t.Errorf("the target got %s, %v", r.Host, r.Header)
		}
		see(w, r, "/second?token="+secret)
	})
	mux.HandleFunc("/second", func(w http.ResponseWriter, r *http.Request) {
		if !knows(r) {
			t.Errorf("the target got, at its own redirect, %s, %v", r.Host, r.Header)
		}
		see(w, r, "//localhost:"+portOf(other.Listener)+"/away") // which the client takes for a relative one
	})
	mux.HandleFunc("/back", func(w http.ResponseWriter, r *http.Request) {
		if !clean(r, first.Listener.Addr().String()) {
			t.Errorf("the target got back %s, %v", r.Host, r.Header)
		}
		see(w, r, "")
	})
	first = httptest.NewServer(mux)
	defer first.Close()
	other = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !clean(r, "localhost:"+portOf(other.Listener)) {
			t.Errorf("the other server got %s, %s, %v", r.Host, r.URL, r.Header)
		}
		if r.URL.Path == "/away" {
			see(w, r, "/further")
		} else {
			see(w, r, first.URL+"/back")
		}
	}))
	defer other.Close()

	target := strings.Replace(first.URL, "//", "//me:"+secret+"@", 1) + "/start"
	r := once(t, Options{HTTP: HTTP{Header: http.Header{
		"Cookie": {"session=" + secret}, "X-Api-Key": {secret}, "Referer": {secret}, "Host": {"app.example"},
		"User-Agent": {"me"}, "Accept": {"text/plain"},
	}}}, target)
	if want := []string{"/start", "/second", "/away", "/further", "/back"}; !r.Healthy || !slices.Equal(path, want) {
		t.Errorf("by way of %q, want %q: %+v", path, want, r)
	}
}

// TestRedirectToNoServer: what we cannot ask does not become a server by waiting. Nothing secret of it is shown.
func TestRedirectToNoServer(t *testing.T) {
	for to, want := range map[string]string{
		"ftp://me:hunter2@files.example:21/hunter2?hunter2": "redirected to ftp://files.example:21/…, which is neither http nor https",
		"file:///etc/passwd": "redirected to file:…, which is neither http nor https",
		"app:hunter2":        "redirected to app:…, which is neither http nor https",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}))
		if r := once(t, Options{}, server.URL); r.Last.String() != want || !r.Permanent {
			t.Errorf("%s: %+v, want %q", to, r, want)
		}
		if r := once(t, Options{Invert: true}, server.URL); r.Last.String() != "still answers: "+want || r.Permanent {
			t.Errorf("inverted, %s: %+v, want %q", to, r, want)
		}
		server.Close()
	}
}

func TestPlace(t *testing.T) {
	for text, want := range map[string]string{
		"http://me:hunter2@app:8080/hunter2": "http://app:8080/…", "https://app/": "https://app", "https://app?hunter2": "https://app/…",
		"http://" + strings.Repeat("long.", 40) + "example/": "http://" + strings.Repeat("long.", 14) + "lo…",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := redirectTarget(u); got != want {
			t.Errorf("place(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestSameServer: a change of the port is another server, a change from http to https is not.
func TestSameServer(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"http://app/a", "http://app/b?c", true},
		{"http://app/", "http://APP:80/", true},
		{"http://app/", "https://app/", true},
		{"http://app:8080/", "https://app:8443/", true},
		{"https://app/", "https://app:443/", true},
		{"https://app/", "http://app/", false},
		{"https://app:443/", "http://app:443/", false},
		{"http://app/", "http://app:8080/", false},
		{"http://app/", "http://app.evil/", false},
		{"http://app/", "http://sub.app/", false},
		{"http://app/", "https://evil/", false},
		{"http://127.0.0.1/", "http://localhost/", false},
	} {
		from, err := url.Parse(test.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(test.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := sameServer(from, to); got != test.want {
			t.Errorf("from %s to %s: %v", test.from, test.to, got)
		}
	}
}

// TestRedirectToAForeignCertificate: who is behind the redirect is looked at as closely as the target itself.
func TestRedirectToAForeignCertificate(t *testing.T) {
	quiet(t)
	other := httptest.NewUnstartedServer(http.NotFoundHandler())
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	other.StartTLS()
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer first.Close()
	if r := once(t, Options{}, first.URL); !r.Permanent || r.Last.String() != "after a redirect to "+other.URL+": certificate is signed by an unknown authority" {
		t.Errorf("result %+v", r)
	}
}
