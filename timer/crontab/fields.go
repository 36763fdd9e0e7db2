package crontab

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// field is the set of values that a field of a schedule allows.
type field struct {
	values  uint64 // one bit for each value
	starred bool   // it begins with a star
}

func (f field) has(value int) bool { return f.values&(1<<value) != 0 }

// shape says what a field may hold.
type shape struct {
	name      string
	low, high int
	size      int      // how many different values it has
	names     []string // the names of its values, from low on
}

var shapes = [5]shape{
	{"minute", 0, 59, 60, nil},
	{"hour", 0, 23, 24, nil},
	{"day of the month", 1, 31, 31, nil},
	{"month", 1, 12, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"weekday", 0, 7, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"}},
}

// macro returns the fields for the name of a common schedule, or "" when there is no such name.
func macro(name string) string {
	switch name {
	case "@yearly", "@annually":
		return "0 0 1 1 *"
	case "@monthly":
		return "0 0 1 * *"
	case "@weekly":
		return "0 0 * * 0"
	case "@daily", "@midnight":
		return "0 0 * * *"
	case "@hourly":
		return "0 * * * *"
	}
	return ""
}

func (e *Entry) macro() (reason, hint string) {
	fields := macro(e.Schedule)
	switch {
	case e.Schedule == Reboot:
		return "", ""
	case fields == "":
		return fmt.Sprintf("cron knows no %s", plain.Quote(e.Schedule)), "it knows @reboot, @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually, in small letters"
	}
	name := e.Schedule
	_, reason, hint = e.fields(fields)
	e.Schedule = name
	return reason, hint
}

// fields reads the five fields before a command and returns what follows them.
func (e *Entry) fields(text string) (rest, reason, hint string) {
	var words []string
	for i, to := range []*field{&e.minutes, &e.hours, &e.days, &e.months, &e.weekdays} {
		var word string
		if word, text = next(text); word == "" {
			return "", "it ends before the " + shapes[i].name, "write minute hour day month weekday command"
		}
		f, said, err := shapes[i].read(word)
		if err != nil {
			return "", fmt.Sprintf("the %s %s: %v", shapes[i].name, plain.Quote(word), err), shapes[i].hint(word)
		}
		*to = f
		words = append(words, said)
	}
	if e.weekdays.has(0) || e.weekdays.has(7) {
		e.weekdays.values |= 1<<0 | 1<<7
	}
	e.Schedule = strings.Join(words, " ")
	return text, "", ""
}

// hint returns what to write instead of a field that is refused: the same in words that cron knows,
// if that is clear, or else what the field may hold.
func (s shape) hint(word string) string {
	head, step, stepped := strings.Cut(word, "/")
	if _, _, err := s.read(head + "-" + strconv.Itoa(s.high) + "/" + step); stepped && err == nil {
		return fmt.Sprintf("write %s-%d/%s", head, s.low+s.size-1, step)
	}
	low, high, ranged := strings.Cut(word, "-")
	round := fmt.Sprintf("%s-%d,%d-%s", low, s.low+s.size-1, s.low, high)
	if _, _, err := s.read(round); ranged && err == nil {
		return "where it goes on from the beginning is meant, write " + round
	}
	if strings.Contains(word, "~") {
		return fmt.Sprintf("write a value of %d-%d; RANDOM_DELAY=10 above the line puts up to ten minutes on it", s.low, s.high)
	}
	names := ""
	if s.names != nil {
		names = fmt.Sprintf(", or %s-%s", s.names[0], s.names[s.size-1])
	}
	return fmt.Sprintf("write *, or values of %d-%d%s, also as a list (1,2), a range (1-4) or with a step (*/2)", s.low, s.high, names)
}

// read reads a field: a list of stars, values and ranges, perhaps with steps. said is the same in a
// form that other programs read as well: a step longer than the field is cut to it.
func (s shape) read(word string) (f field, said string, err error) {
	f.starred = word[0] == '*'
	var list []string
	for item := range strings.SplitSeq(word, ",") {
		span, stepText, stepped := strings.Cut(item, "/")
		step, low, high := 1, s.low, s.high
		lowText, highText, ranged := strings.Cut(span, "-")
		switch {
		case strings.Contains(item, "~"):
			return f, "", fmt.Errorf("a random value is another one each time that cron reads the table")
		case span == "*":
		default:
			if low, err = s.value(lowText); err != nil {
				return f, "", err
			}
			if high = low; !ranged {
				break
			}
			if high, err = s.value(highText); err != nil {
				return f, "", err
			}
			if s.high == 7 && high == 0 && low > 0 { // FRI-SUN, which cronie accepts
				high, span = 7, strconv.Itoa(low)+"-7"
			}
			if low > high {
				return f, "", fmt.Errorf("the range runs backwards, and cron finds no value in it")
			}
		}
		if stepped {
			if span != "*" && !ranged {
				return f, "", fmt.Errorf("a step needs a range or a star in front of it")
			}
			if step, err = digits(stepText); err != nil || step == 0 {
				return f, "", fmt.Errorf("the step %s is not a number from 1 on", plain.Quote(stepText))
			}
			step = min(step, s.size)
			span += "/" + strconv.Itoa(step)
		}
		for v := low; v <= high; v += step {
			f.values |= 1 << v
		}
		list = append(list, span)
	}
	return f, strings.Join(list, ","), nil
}

// value reads a number, or a name of three letters.
func (s shape) value(text string) (int, error) {
	for i, name := range s.names {
		if strings.EqualFold(name, text) {
			return s.low + i, nil
		}
	}
	v, err := digits(text)
	if err != nil {
		return 0, err
	}
	if v < s.low || v > s.high {
		return 0, fmt.Errorf("%d is not in %d-%d", v, s.low, s.high)
	}
	return v, nil
}

func digits(text string) (int, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("%s is not a value of it", plain.Quote(text))
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is too large", plain.Quote(text))
	}
	return v, nil
}
