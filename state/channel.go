package state

import (
	"fmt"
	"strings"
	"time"
)

// Channel is a way to tell somebody. It comes from [channels.NAME] of config.toml, or from a URL.
// The type decides which fields have a meaning; docs/notify.md has the table.
type Channel struct {
	Name string `toml:"-"`
	// Type is desktop, terminal, email, webhook, exec, heartbeat or the scheme of a service's URL.
	// If it is empty, the URL decides.
	Type string `toml:"type"`
	// URL is that of a webhook, a service or a heartbeat. It may contain secrets.
	URL      string   `toml:"url"`
	To       string   `toml:"to"`       // who is told if the message names nobody
	From     string   `toml:"from"`     // the sender of email
	Host     string   `toml:"host"`     // the SMTP server; if empty, email goes by Resend
	Port     int      `toml:"port"`     // of the SMTP server; 0 means the usual one of TLS
	User     string   `toml:"user"`     // at the SMTP server; if empty, there is no login
	Password string   `toml:"password"` // of User
	Key      string   `toml:"key"`      // of Resend
	Secret   string   `toml:"secret"`   // signs what a webhook gets
	TLS      string   `toml:"tls"`      // of SMTP: starttls (the default), tls or none
	Timeout  string   `toml:"timeout"`  // as ParseTimeout reads it; empty: ChannelTimeout
	Command  []string `toml:"command"`  // of exec: the program and its arguments, no shell
	// Start is the URL that a heartbeat pings when a run starts. If it is empty, that is the one
	// that follows from URL, or none.
	Start string `toml:"start"`
	OK    string `toml:"ok"`   // like Start, when a run succeeds
	Fail  string `toml:"fail"` // like Start, when a run fails

	// Exposed is the file with this channel's secrets if other users can read it. The channel is
	// then not used.
	Exposed string `toml:"-"`
}

// ChannelTimeout is how long a channel may take if its timeout is empty.
const ChannelTimeout = 30 * time.Second

// ParseTimeout reads how long a channel may take, such as 30s or 1m30s, up to an hour. The empty
// text is ChannelTimeout.
func ParseTimeout(text string) (time.Duration, error) {
	if text == "" {
		return ChannelTimeout, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > time.Hour {
		return 0, fmt.Errorf("%q is not a time-out; write it as 30s or 2m, at most 1h", text)
	}
	return d, nil
}

// The types of channels that are not the scheme of a service's URL.
const (
	ChannelDesktop  = "desktop"
	ChannelTerminal = "terminal"
	ChannelEmail    = "email"
	ChannelWebhook  = "webhook"
	ChannelExec     = "exec"
	// ChannelHeartbeat tells no person. It is pinged for each run, and the service behind it tells
	// somebody when no ping comes.
	ChannelHeartbeat = "heartbeat"
)

// ChannelOfURL returns the type of channel that a URL stands for: webhook for http and https, email
// for mailto, and otherwise the service that the scheme names in front of any "+". It is empty if
// the text is not a URL.
func ChannelOfURL(url string) string {
	scheme, _, ok := strings.Cut(url, ":")
	scheme = strings.ToLower(scheme)
	if !ok || scheme == "" || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return ""
	}
	switch scheme {
	case "http", "https":
		return ChannelWebhook
	case "mailto":
		return ChannelEmail
	}
	service, _, _ := strings.Cut(scheme, "+")
	return service
}
