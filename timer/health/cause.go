package health

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Kind says why a target is not healthy.
type Kind string

// Time ran out before something arrived. Each of these is a phase of an attempt.
const (
	NoAddress      Kind = "no_address"
	NoConnection   Kind = "no_connection"
	NoHandshake    Kind = "no_handshake"
	NoAnswer       Kind = "no_answer"
	NoRedirectEnd  Kind = "no_redirect_end"
	NoWholeBody    Kind = "no_whole_body"
	NoMatchInTime  Kind = "no_match_in_time"
	NoEndOfCommand Kind = "no_end_of_command"
)

// The network.
const (
	UnknownHost  Kind = "unknown_host"  // Subject
	LookupFailed Kind = "lookup_failed" // Subject: why
	Unreachable  Kind = "unreachable"   // Subject: what is
	Refused      Kind = "refused"
	Reset        Kind = "reset"
	Stalled      Kind = "stalled" // the system gave up
	System       Kind = "system"  // Subject: the words of the system or of a library
	QueueFull    Kind = "queue_full"
)

// Certificates and TLS.
const (
	WrongName        Kind = "certificate_name" // Subject has it, and Other does not
	UnknownAuthority Kind = "certificate_authority"
	NotYetValid      Kind = "certificate_early"   // At
	Expired          Kind = "certificate_expired" // At
	NotValid         Kind = "certificate_invalid" // Subject: why
	EndsSoon         Kind = "certificate_ends"    // Number of days, At
	SpeaksHTTP       Kind = "speaks_http"
	NotTLS           Kind = "not_tls"
	EndedHandshake   Kind = "handshake_ended" // Subject: why
)

// What HTTP answers.
const (
	Status  Kind = "status" // Number; Span is how long it asks to wait
	NoMatch Kind = "body"   // Number, and the body does not match
	// Number; the path Subject selects Other (nothing when empty) and Of more nodes
	NoJSONMatch Kind = "body_json"
	NotJSON     Kind = "not_json" // Number; the body is something else
	// Number; the body, or the part of it that the path Subject visits, is too large
	LargeBody     Kind = "body_large"
	Closed        Kind = "closed"
	LongHeader    Kind = "long_header" // Number of KiB
	NotHTTP       Kind = "not_http"
	RedirectOther Kind = "redirect_scheme" // Subject: where to
	RedirectLong  Kind = "redirect_long"   // Number of KiB
	RedirectBad   Kind = "redirect_bad"
	Redirects     Kind = "redirects" // Number
)

// The answers of servers in their own protocols.
const (
	NotReady        Kind = "not_ready"         // Subject: the words of the server
	Denied          Kind = "denied"            // Subject: the words of the server
	OtherVersion    Kind = "other_version"     // Subject: the version that it speaks
	NoHealthService Kind = "no_health_service" // Subject: the words of the server
	NoRecord        Kind = "no_record"         // Subject: the type
	NoContainer     Kind = "no_container"
	// Subject: the protocol that it is not; Other: how the answer begins
	OtherProtocol Kind = "other_protocol"
)

// Files, sockets, processes, commands and tasks.
const (
	NoFile      Kind = "no_file"
	NoDirectory Kind = "no_directory"
	Empty       Kind = "empty"
	NotNewer    Kind = "not_newer" // Subject: the file to compare with
	Changed     Kind = "changed"   // At, or Span ago
	NoSocket    Kind = "no_socket"
	NotSocket   Kind = "not_socket"
	LongPath    Kind = "long_path"
	NoProcess   Kind = "no_process"
	HasEnded    Kind = "process_ended"
	ExitCode    Kind = "exit_code" // Number; Subject: what it said
	Signalled   Kind = "signal"    // Other; Subject: what it said
	NoTasks     Kind = "no_tasks"
	NoTask      Kind = "no_task"
	NotEnded    Kind = "not_ended"
	Failed      Kind = "failed"    // Subject: how; may be empty
	FromOne     Kind = "from_one"  // occurrence 0 does not exist
	OnlyOnce    Kind = "only_once" // Subject: a one-shot has no such occurrence
	// Subject: the run outlived its runner, and nobody records how it ends
	Stranded   Kind = "stranded"
	NoTarget   Kind = "no_target"    // Subject: why it cannot be read
	Proving    Kind = "proving"      // healthy Number of Of times in a row
	ProvingFor Kind = "proving_long" // healthy for Span of Most
)

// The target should be gone but is still there.
const (
	StillAnswers  Kind = "still_answers"
	StillAccepts  Kind = "still_accepts"
	StillResolves Kind = "still_resolves"
	StillThere    Kind = "still_there"
	StillRuns     Kind = "still_runs"
	StillWell     Kind = "still_well" // a task has ended well
	StillZero     Kind = "still_zero" // a command
)

// Cause is why a target is not healthy, or what was found in its place. The zero Cause means that
// nothing is wrong. Texts from a peer are cut short and made printable.
type Cause struct {
	Kind       Kind
	Subject    string
	Other      string
	Number, Of int
	Span, Most time.Duration
	At         time.Time

	Beside string // it concerns this other file, which the target is compared with
	Port   string // the port, when the target does not name it
	Proxy  bool   // it comes from the proxy and says nothing about the target
	Away   string // the place to which a redirect led
	Still  bool   // somebody who should be gone answers with it
}

// IsZero reports whether there is nothing to say.
func (c Cause) IsZero() bool { return c == Cause{} }

// Stays reports whether the cause says that a target that should be gone is there. Other causes
// only say why that is not known.
func (c Cause) Stays() bool {
	switch c.Kind {
	case StillAnswers, StillAccepts, StillResolves, StillThere, StillRuns, StillWell, StillZero, NotEnded:
		return true
	}
	return c.Still
}

// words are the texts of the kinds that need no values, and the beginnings of some others.
var words = sync.OnceValue(func() map[Kind]string {
	return map[Kind]string{
		NoAddress: "no address", NoConnection: "no connection", NoHandshake: "no TLS handshake", NoAnswer: "no answer",
		NoRedirectEnd: "no end of the redirect", NoWholeBody: "no whole body", NoMatchInTime: "the body could not be matched",
		NoEndOfCommand: "no end of the command",

		Refused: "connection refused", Reset: "connection reset", Stalled: "connection timed out", QueueFull: "the queue of connections is full",
		UnknownHost: "unknown host ", LookupFailed: "name look-up failed: ",

		UnknownAuthority: "certificate is signed by an unknown authority", NotValid: "certificate is not valid: ",
		SpeaksHTTP: "the server speaks HTTP, not HTTPS", NotTLS: "the server does not speak TLS",
		EndedHandshake: "the server ended the TLS handshake: ",

		Closed: "connection closed without a whole answer", NotHTTP: "the answer is not HTTP",
		OtherVersion: "the server speaks ", NoHealthService: "no health service: ", NoRecord: "the answer has no record of type ", NoContainer: "no such container",
		NotReady: "not ready: ", Denied: "denied: ",
		RedirectBad: "redirected to a place that is not a URL",

		NoFile: "no such file", NoDirectory: "not a directory", Empty: "is empty", NotNewer: "is not newer than ",
		NoSocket: "no such socket", NotSocket: "not a socket", LongPath: "the path is too long for a socket",
		NoProcess: "no such process", HasEnded: "the process has ended",
		NoTasks: "tasks cannot be looked at here", NoTask: "no such task", NotEnded: "has not ended",
		FromOne: "occurrences count from 1", OnlyOnce: "a one-shot has no occurrence ",

		StillAnswers: "still answers", StillAccepts: "still accepts connections", StillResolves: "still resolves",
		StillThere: "is still there", StillRuns: "still runs", StillWell: "has ended well", StillZero: "still ends with 0",
	}
})

// String describes the cause for a person: short, and on one line.
func (c Cause) String() string {
	text := c.bare()
	switch {
	case c.Proxy && c.Kind == Status:
		text = "the proxy answers " + text
	case c.Proxy:
		text = "the proxy: " + text
	case c.Beside != "":
		text = c.Beside + ", which it must be newer than: " + text
	}
	if c.Away != "" {
		text = "after a redirect to " + c.Away + ": " + text
	}
	if c.Port != "" {
		text += " (port " + c.Port + ")"
	}
	if c.Still {
		text = "still answers: " + text
	}
	return text
}

// bare describes the cause without saying where it was found.
func (c Cause) bare() string {
	on := c.At.UTC().Format(time.RFC3339)
	switch c.Kind {
	case NoAddress, NoConnection, NoHandshake, NoAnswer, NoRedirectEnd, NoWholeBody, NoMatchInTime, NoEndOfCommand:
		text := words()[c.Kind]
		if c.Span > 0 {
			text += " within " + short(c.Span)
		}
		return withDetail(text, c.Subject)
	case WrongName:
		return "certificate is for " + c.Subject + ", not " + c.Other
	case NotYetValid:
		return "certificate is not valid before " + on
	case Expired:
		return "certificate has expired on " + on
	case EndsSoon:
		return "certificate ends in " + days(c.Number) + ", on " + on
	case Status:
		text := "HTTP " + strconv.Itoa(c.Number)
		if c.Span > 0 {
			text += ", asks to wait " + secondsInWords(c.Span)
		}
		return text
	case NoMatch:
		return "HTTP " + strconv.Itoa(c.Number) + ", but the body does not match"
	case NotJSON:
		return "HTTP " + strconv.Itoa(c.Number) + ", but the body is not JSON"
	case LargeBody:
		if c.Subject != "" {
			return "HTTP " + strconv.Itoa(c.Number) + ", but the body is too large for " + c.Subject
		}
		return "HTTP " + strconv.Itoa(c.Number) + ", but the body is larger than 1 MiB"
	case NoJSONMatch:
		text := "HTTP " + strconv.Itoa(c.Number) + ", but " + c.Subject + " is "
		switch {
		case c.Other == "":
			return text + "not there"
		case c.Of > 0:
			return text + c.Other + ", and " + strconv.Itoa(c.Of) + " more"
		}
		return text + c.Other
	case OtherProtocol:
		text := "the answer is not " + c.Subject
		if c.Other != "" {
			text += ", it begins " + strconv.Quote(c.Other)
		}
		return text
	case LongHeader:
		return fmt.Sprintf("response headers larger than %d KiB", c.Number)
	case RedirectOther:
		return "redirected to " + c.Subject + ", which is neither http nor https"
	case RedirectLong:
		return fmt.Sprintf("redirected to an address longer than %d KiB", c.Number)
	case Redirects:
		return fmt.Sprintf("more than %d redirects", c.Number)
	case Changed:
		if c.At.IsZero() {
			return "was last changed " + short(c.Span) + " ago"
		}
		return "was last changed on " + on
	case ExitCode:
		return withDetail("exit code "+strconv.Itoa(c.Number), c.Subject)
	case Signalled:
		return withDetail("ended by signal: "+c.Other, c.Subject)
	case Failed:
		if c.Subject == "" {
			return "has failed"
		}
	case Proving:
		return fmt.Sprintf("healthy %d of %d times in a row", c.Number, c.Of)
	case ProvingFor:
		return fmt.Sprintf("healthy for %s of %s", short(c.Span), short(c.Most))
	}
	return words()[c.Kind] + c.Subject
}

// withDetail adds somebody's words to a text.
func withDetail(text, what string) string {
	if what == "" {
		return text
	}
	return text + ": " + what
}

// days writes a number of days; 0 is less than a day.
func days(n int) string {
	switch n {
	case 0:
		return "less than a day"
	case 1:
		return "1 day"
	}
	return strconv.Itoa(n) + " days"
}

// secondsInWords writes whole seconds.
func secondsInWords(d time.Duration) string {
	switch {
	case d == time.Second:
		return "1 second"
	case d < 2*time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " seconds"
	}
	return short(d)
}
