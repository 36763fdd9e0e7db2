package health

import (
	"fmt"
	"net/http"
	"slices"
)

// unsendable are the headers that are not the user's: they say how the connection is used (RFC
// 9110, section 7.6.1), or what body a request has, which ours never have. net/http sends some of
// them as it likes, and leaves others out.
var unsendable = []string{
	"Connection", "Content-Length", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// CheckHeader returns an error that names the header when HTTP.Header cannot have one of that name,
// in whatever case: it would not be sent as it was given.
func CheckHeader(name string) error {
	if slices.Contains(unsendable, http.CanonicalHeaderKey(name)) {
		return fmt.Errorf("the header %s is not sent: it says how a connection is used, or what body a request has", name)
	}
	return nil
}
