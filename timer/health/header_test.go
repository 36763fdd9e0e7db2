package health

import (
	"net/http"
	"strings"
	"testing"
)

func TestCheckHeader(t *testing.T) {
	for _, name := range []string{"Content-Length", "transfer-encoding", "CONNECTION", "Upgrade", "TE", "Trailer", "keep-alive"} {
		if err := CheckHeader(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an error that names it", name, err)
		}
	}
	for _, name := range []string{"Host", "Accept", "authorization", "User-Agent", "Cookie", "X-Upgrade"} {
		if err := CheckHeader(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range unsendable {
		if name != http.CanonicalHeaderKey(name) {
			t.Errorf("%s would never be found: it is looked for as %s", name, http.CanonicalHeaderKey(name))
		}
	}
}
