package health

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// escaped writes control characters so that they are visible and do no harm to a terminal.
func escaped(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) {
			quoted := strconv.QuoteToASCII(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

var password = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((?:[A-Za-z][A-Za-z0-9+.-]*[:;]*//+)?[^/?#:@]*):.*@`)
})

// secret finds a parameter of a URL whose name says that it is a secret, as in
// postgres://db/app?password=…
var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)([?&](?:password|passwd|pwd|token|secret|api_?key|access_token|sslpassword)=)[^&#]*`)
})

// mask hides the password of a URL, even if the URL is not valid. An "@" in a path may hide a
// little more than necessary.
func mask(text string) string {
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme = strings.ToLower(scheme); scheme {
	case "exec":
		return text
	case "unix", "dns", "file", "pid", "task", "docker":
		if !strings.HasPrefix(rest, "//") {
			return text
		}
	}
	text = secret().ReplaceAllString(text, "${1}xxxxx")
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if _, has := u.User.Password(); !has {
			return text
		}
	}
	return password().ReplaceAllString(text, "$1:xxxxx@")
}
