package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// Locale is how a person at a terminal reads times: the short names of days and months, and a clock
// of 12 or 24 hours. The zero value is English, with 24 hours.
type Locale struct {
	days   []string // from Sunday
	months []string // from January
	halves []string // AM and PM; nil means a clock of 24 hours
}

// localeWait is how long locale(1) may take.
const localeWait = time.Second

// LocaleOn returns the locale of a stream. For a terminal it is that of LC_ALL, or else LC_TIME. It
// is the zero value for other streams, when neither is set, and when the system does not have that
// locale. LANG alone changes nothing, so that times look as in the docs unless the user has chosen
// how to read them.
func LocaleOn(ctx context.Context, stream io.Writer, getenv func(string) string) Locale {
	if _, terminal := TerminalWidth(stream, getenv); !terminal {
		return Locale{}
	}
	name := getenv("LC_ALL")
	if name == "" {
		name = getenv("LC_TIME")
	}
	if base, _, _ := strings.Cut(name, "."); base == "" || base == "C" || base == "POSIX" {
		return Locale{}
	}
	ctx, cancel := context.WithTimeout(ctx, localeWait)
	defer cancel()
	// locale(1) of POSIX.1-2024 writes its keywords with their values.
	c := exec.CommandContext(ctx, "locale", "-k", "LC_TIME")
	c.WaitDelay = localeWait // what it has left behind may hold its output open
	c.Env = []string{"LC_ALL=" + name, "PATH=" + getenv("PATH"), "LOCPATH=" + getenv("LOCPATH")}
	output, err := c.Output()
	if err != nil {
		return Locale{}
	}
	return readLocale(output)
}

// LocaleOf returns the locale of standard output. It starts locale(1): call it once for an answer.
func LocaleOf(o *Out) Locale {
	return LocaleOn(context.Background(), o.world.Out, o.world.Getenv)
}

// readLocale reads the lines KEYWORD="VALUE;VALUE" of locale(1). What is incomplete or not UTF-8
// stays English.
func readLocale(output []byte) (l Locale) {
	if !utf8.Valid(output) {
		return Locale{}
	}
	values := map[string][]string{}
	for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), "=")
		values[key] = strings.Split(strings.ReplaceAll(value, `"`, ""), ";")
	}
	if days, months := values["abday"], values["abmon"]; len(days) == 7 && len(months) == 12 {
		l.days, l.months = trimmed(days), trimmed(months)
	}
	clock := strings.Join(values["t_fmt"], ";")
	halves := trimmed(values["am_pm"])
	if strings.Contains(clock, "%r") { // the clock of 12 hours, in full
		clock = strings.Join(values["t_fmt_ampm"], ";")
	}
	if len(halves) == 2 && halves[0] != "" && (strings.Contains(clock, "%I") || strings.Contains(clock, "%l")) {
		l.halves = halves
	}
	return l
}

// trimmed removes the blanks around texts, and escapes control characters.
func trimmed(texts []string) (list []string) {
	for _, t := range texts {
		list = append(list, Visible(strings.TrimSpace(t)))
	}
	return list
}

// Format is t.Format in the locale, for layouts made of Mon, 2, Jan, 2006, 15:04, :05 and MST.
func (l Locale) Format(t time.Time, layout string) string {
	var b strings.Builder
	for layout != "" {
		switch {
		case l.days != nil && strings.HasPrefix(layout, "Mon"):
			b.WriteString(l.days[t.Weekday()])
			layout = layout[len("Mon"):]
		case l.months != nil && strings.HasPrefix(layout, "Jan"):
			b.WriteString(l.months[t.Month()-1])
			layout = layout[len("Jan"):]
		case l.halves != nil && strings.HasPrefix(layout, "15:04"):
			layout = layout[len("15:04"):]
			seconds, ok := strings.CutPrefix(layout, ":05")
			clock := "3:04"
			if ok {
				clock, layout = "3:04:05", seconds
			}
			b.WriteString(t.Format(clock) + " " + l.halves[t.Hour()/12])
		default:
			next := l.next(layout)
			b.WriteString(t.Format(layout[:next]))
			layout = layout[next:]
		}
	}
	return b.String()
}

// next returns where the next part of a layout that depends on the locale begins.
func (l Locale) next(layout string) int {
	next := len(layout)
	for _, part := range []string{"Mon", "Jan", "15:04"} {
		if at := strings.Index(layout[1:], part); at >= 0 {
			next = min(next, at+1)
		}
	}
	return next
}

// Clock is a time of day in a layout, 15:04 or 15:04:05, padded to ClockWidth.
func (l Locale) Clock(t time.Time, layout string) string {
	text := l.Format(t, layout)
	return strings.Repeat(" ", max(0, l.ClockWidth(layout)-Columns(text))) + text
}

// ClockWidth is how many columns Clock takes.
func (l Locale) ClockWidth(layout string) int {
	if l.halves == nil {
		return len(layout)
	}
	return len(layout) + 1 + max(Columns(l.halves[0]), Columns(l.halves[1]))
}
