package state

import (
	"fmt"
	"strings"
	"time"
)

// Channel is a way to tell somebody, as [channels.NAME] of config.toml gives it or as it was made of a URL. Which of the
// fields mean something depends on the type; docs/notify.md has the table.
type Channel struct {
	Name     string   `toml:"-"`
	Type     string   `toml:"type"`     // desktop, terminal, email, webhook, exec, or the scheme of a service's URL; empty: the URL says
	URL      string   `toml:"url"`      // of a webhook, a service or a heartbeat; it can hold secrets
	To       string   `toml:"to"`       // who is told when the message names nobody
	From     string   `toml:"from"`     // the sender of email
	Host     string   `toml:"host"`     // the SMTP server; empty: email goes by Resend
	Port     int      `toml:"port"`     // of the SMTP server; 0: the usual one of TLS
	User     string   `toml:"user"`     // at the SMTP server; empty: nobody logs in
	Password string   `toml:"password"` // of User
	Key      string   `toml:"key"`      // of Resend
	Secret   string   `toml:"secret"`   // signs what a webhook gets
	TLS      string   `toml:"tls"`      // of SMTP: starttls (the default), tls or none
	Timeout  string   `toml:"timeout"`  // as ParseTimeout reads it; empty: ChannelTimeout
	Command  []string `toml:"command"`  // of exec: the program and its arguments, no shell
	Start    string   `toml:"start"`    // of a heartbeat: the URL that is pinged when a run starts; empty: none, or URL says it
	OK       string   `toml:"ok"`       // when it has ended well
	Fail     string   `toml:"fail"`     // when it has not

	// Exposed is the file that holds secrets of this channel and that others may read: the channel is not used.
	Exposed string `toml:"-"`
}

// ChannelTimeout is how long a channel may take that does not say.
const ChannelTimeout = 30 * time.Second

// ParseTimeout reads how long a channel may take, such as 30s or 1m30s; at most an hour. Nothing is ChannelTimeout.
func ParseTimeout(text string) (time.Duration, error) {
	if text == "" {
		return ChannelTimeout, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > time.Hour {
		return 0, fmt.Errorf("%q is no time-out; write it as 30s or 2m, at most 1h", text)
	}
	return d, nil
}

// The types of channels that are not the scheme of a service.
const (
	ChannelDesktop  = "desktop"
	ChannelTerminal = "terminal"
	ChannelEmail    = "email"
	ChannelWebhook  = "webhook"
	ChannelExec     = "exec"
	// ChannelHeartbeat tells no person: it is pinged for each run, and what is there tells somebody when no ping comes.
	ChannelHeartbeat = "heartbeat"
)

// ChannelOfURL is the type of channel that a URL stands for: http and https are a webhook, mailto is email, and any other
// scheme is a service, known by what stands in front of a "+". Empty: it is no URL.
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
