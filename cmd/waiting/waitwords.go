package waiting

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// olderMode is a first word of the older form, wait MODE VALUE TASK: the form of its value, and an
// example.
type olderMode struct {
	form  when.Form
	value string
}

func modes() map[string]olderMode {
	return map[string]olderMode{"delay": {when.DelayForm, "30"}, "interval": {when.EveryForm, "300"},
		"cron": {when.CronForm, "0 9 * * *"}}
}

const useModes = "Use 'delay', 'interval', or 'cron'."

// waitWords splits the words of the call into the text of the time, the form in which it is read,
// and the task. It refuses words that would be a longer time, because the task would silently begin
// with a part of it.
func waitWords(s *cli.Call, o when.Options) (text string, form when.Form, task []string, err error) {
	text, form, ok, err := cli.TimeOption(s)
	if err != nil {
		return "", "", nil, err
	}
	if ok {
		if err := refuseTwice(s, o, form); err != nil {
			return "", "", nil, err
		}
		// The words of the task follow the value of the option: --delay 5 minutes tea.
		return text, form, s.Args, refuseLonger(s, o, form,
			func(text string) problem.Call { return problem.To("wait").With(problem.Option(form), text) }, text, s.Args)
	}
	if len(s.Args) == 0 {
		return "", "", nil, problem.Of(problem.T("no time is given"),
			problem.T("type %s, or %s", problem.To("wait", "5m", "check the oven"),
				problem.To("wait").With("until", "22:00")))
	}
	mode := s.Args[0]
	older, ok := modes()[mode]
	if form = older.form; !ok {
		text, task = s.Args[0], s.Args[1:]
		if err := refuseLonger(s, o, when.Any, func(text string) problem.Call { return problem.To("wait", text) }, text,
			task); err != nil {
			return "", "", nil, err
		}
		return text, when.Any, task, modeOf(s, o)
	}
	if len(s.Args) == 1 {
		return "", "", nil, problem.Of(problem.T("wait %s needs a value", mode),
			problem.T("type %s", modeExample(mode)))
	}
	text, task = s.Args[1], s.Args[2:]
	if err := refuseLonger(s, o, form, func(text string) problem.Call { return problem.To("wait", mode, text) }, text,
		task); err != nil {
		return "", "", nil, err
	}
	if form == when.CronForm {
		return text, form, task, nil
	}
	text, err = lengthOf(mode, text)
	return text, form, task, err
}

// refuseTwice refuses a word that is a time when an option gives the time: wait 1s --until 9am tea.
// A task that begins with a time can be given as one word, or after --.
func refuseTwice(s *cli.Call, o when.Options, form when.Form) error {
	if s.Dash || len(s.Args) < 2 {
		return nil
	}
	if _, err := when.Parse(s.Args[0], o); err != nil {
		return nil
	}
	return problem.Of(problem.T("the time is given twice: %s and %s", cli.Quote(s.Args[0]), problem.Option(form)),
		problem.T("leave one of them out; if both words are the task, put it in quotes: %s",
			cli.ShellQuote(strings.Join(s.Args, " "))))
}

// lengthOf returns the value of the modes delay and interval as a duration with a unit. A bare
// number means seconds.
func lengthOf(mode, value string) (string, error) {
	refused := func(why string) (string, error) {
		return "", problem.Of(problem.T("wait %s: %s %s", mode, cli.Quote(value), why),
			problem.T("type seconds or a duration: %s", modeExample(mode)))
	}
	value = strings.TrimSpace(value)
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case strings.ContainsAny(value, "xX_"): // ParseFloat would accept 0x10 and 1_000
		return refused("is not a number")
	case math.IsNaN(n) || math.IsInf(n, 0):
		return refused("is not a length of time")
	case err != nil:
		if _, err := when.Duration(strings.TrimPrefix(value, "-")); err == nil && strings.HasPrefix(value, "-") {
			return refused("is negative")
		}
		if strings.IndexFunc(value, func(r rune) bool { return r >= '0' && r <= '9' }) < 0 &&
			!strings.Contains(value, " ") {
			return refused("is not a number")
		}
		return value, nil // the parser reads a duration with a unit
	case n < 0:
		return refused("is negative")
	case n > math.MaxInt64/1e9:
		return refused("is too long")
	}
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(n, 'f', 9, 64), "0"), ".")
	if text == "0" && mode == "interval" {
		return refused("is not a wait at all")
	}
	return text + "s", nil
}

// recurringWords are times of one word that look like a mode of the older form when a number
// follows.
var recurringWords = []string{"minutely", "hourly", "daily", "nightly", "weekly", "biweekly", "fortnightly", "monthly",
	"quarterly", "yearly", "annually"}

// modeOf refuses an unknown mode, as in wait later 30 tea. It also refuses a time such as weekly
// when a bare number follows, because wait weekly 30 tea does not mean the task "30 tea".
func modeOf(s *cli.Call, o when.Options) error {
	if len(s.Args) < 2 || strings.Trim(strings.ToLower(s.Args[0]), "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil
	}
	if _, err := strconv.ParseFloat(s.Args[1], 64); err == nil && s.After < len(s.Args)-1 &&
		slices.Contains(recurringWords, strings.ToLower(s.Args[0])) {
		return problem.Of(problem.T("unknown mode %s", cli.Quote(s.Args[0])),
			problem.T("%s Give a task that begins with a number after --: %s",
				useModes, problem.To("wait", s.Args[0]).Running(s.Args[1:]...)))
	}
	if _, err := when.Parse(s.Args[0], o); err == nil {
		return nil
	}
	_, number := strconv.ParseFloat(s.Args[1], 64)
	o.Form = when.CronForm
	_, cron := when.Parse(s.Args[1], o)
	_, span := when.Duration(s.Args[1])
	if number != nil && cron != nil && span != nil {
		return nil
	}
	return problem.Of(problem.T("unknown mode %s", cli.Quote(s.Args[0])), problem.T(useModes))
}

// refuseLonger refuses a time that is a longer time together with the words after it. Words after
// -- are the task, and are not looked at. call makes the call with the longer time, for the hint.
func refuseLonger(s *cli.Call, o when.Options, form when.Form, call func(text string) problem.Call, text string,
	after []string) error {
	rest := after
	if s.After <= len(after) { // else the time stands after --, too
		after = after[:len(after)-s.After]
	}
	after = slices.DeleteFunc(slices.Clone(after), func(w string) bool { return strings.TrimSpace(w) == "" })
	o.Form = form
	short, err := when.Parse(text, o)
	if err == nil && (form == when.CronForm || form == when.RRuleForm) {
		return nil // such a time is always one word, and a task may begin with a year
	}
	for n := min(len(after), cli.MaxTimeWords); n > 0; n-- {
		longer := text + " " + strings.Join(after[:n], " ")
		sched, refused := when.Parse(longer, o)
		if refused != nil {
			switch code := cli.Explain(refused).Code; {
			case code == problem.Ambiguous && err != nil:
				return refused // "at 9" would be a time if it were said more clearly
			case code != problem.Past:
				continue
			}
		}
		f := problem.New(problem.Ambiguous, problem.T("%s is a time as well, not only %s", cli.Quote(longer),
			cli.Quote(text)),
			problem.T("did you mean %s?", call(longer).Saying(after[n:]...)))
		if err != nil {
			a := "a time"
			if form == when.CronForm {
				a = "a cron line"
			}
			f.Code, f.Message = problem.NotUnderstood, problem.T("%s is not %s, but %s is", cli.Quote(text),
				a, cli.Quote(longer))
		}
		if refused != nil {
			return f
		}
		now := o.Now
		if at, ok := sched.Next(now.Add(-1)); ok {
			f.Candidates = append(f.Candidates, fault.Candidate{Text: longer, At: at})
		}
		if short == nil {
			return f
		}
		// After the canonical text the task could again be part of a longer time.
		if short.Canonical == text || refuseLonger(s, o, form, call, short.Canonical, rest) != nil {
			f.Hint = problem.T("%s If %s is the time: %s", f.Hint, cli.Quote(text), call(text).Running(after...))
		} else if at, ok := short.Next(now.Add(-1)); ok {
			f.Candidates = append(f.Candidates, fault.Candidate{Text: short.Canonical, At: at})
		}
		return f
	}
	return nil
}

// modeExample returns a valid call of the older form.
func modeExample(mode string) problem.Call {
	return problem.To("wait", mode, modes()[mode].value, "check the oven")
}
