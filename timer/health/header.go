package health

import (
	"fmt"
	"net/http"
	"slices"
)

// unsendable are headers that a caller cannot set. They say how the connection is used (RFC 9110,
// section 7.6.1), or which body a request has, and ours have none. net/http changes some of them
// and leaves out others.
var unsendable = []string{
	"Connection", "Content-Length", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// CheckHeader returns an error with the name of a header that HTTP.Header cannot have, in whatever
// case, because it would not be sent as given.
func CheckHeader(name string) error {
	if slices.Contains(unsendable, http.CanonicalHeaderKey(name)) {
		return fmt.Errorf("the header %s is not sent: it says how a connection is used, or what body a request has", name)
	}
	return nil
}
