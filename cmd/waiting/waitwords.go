package waiting

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// modes are the first words of the older form, wait MODE VALUE TASK, each with the form of its
// value.
func modes() map[string]when.Form {
	return map[string]when.Form{"delay": when.DelayForm, "interval": when.EveryForm, "cron": when.CronForm}
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
		if err := timeTwice(s, o, form); err != nil {
			return "", "", nil, err
		}
		// The value of the flag is followed by the words of the task: --delay 5 minutes tea.
		return text, form, s.Args, longer(s, o, form,
			func(text string) problem.Call { return problem.To("wait").With(problem.Option(form), text) }, text, s.Args)
	}
	if len(s.Args) == 0 {
		return "", "", nil, problem.Of(problem.T("no time is given"),
			problem.T("type %s, or %s", problem.To("wait", "5m", "check the oven"),
				problem.To("wait").With("until", "22:00")))
	}
	mode := s.Args[0]
	form, ok = modes()[mode]
	if !ok {
		text, task = s.Args[0], s.Args[1:]
		if err := longer(s, o, when.Any, func(text string) problem.Call { return problem.To("wait", text) }, text,
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
	if err := longer(s, o, form, func(text string) problem.Call { return problem.To("wait", mode, text) }, text,
		task); err != nil {
		return "", "", nil, err
	}
	if form == when.CronForm {
		return text, form, task, nil
	}
	text, err = length(mode, text)
	return text, form, task, err
}

// timeTwice refuses a word that is a time beside a flag that gives the time: wait 1s --until 9am
// tea. A task of that kind can be given as one word with the others, or after --.
func timeTwice(s *cli.Call, o when.Options, form when.Form) error {
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

// length is the value of the modes delay and interval as a duration with a unit: a bare number is
// seconds.
func length(mode, value string) (string, error) {
	refused := func(why string) (string, error) {
		return "", problem.Of(problem.T("wait %s: %s %s", mode, cli.Quote(value), why),
			problem.T("type seconds or a duration: %s", modeExample(mode)))
	}
	value = strings.TrimSpace(value)
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case strings.ContainsAny(value, "xX_"): // numbers of programmers are refused
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

// rhythms are times of one word that read like a mode of the older form when a number follows.
var rhythms = []string{"minutely", "hourly", "daily", "nightly", "weekly", "biweekly", "fortnightly", "monthly",
	"quarterly", "yearly", "annually"}

// modeOf refuses an unknown mode, as in wait later 30 tea. It also refuses a time such as weekly
// when a bare number follows, because wait weekly 30 tea does not mean the task "30 tea".
func modeOf(s *cli.Call, o when.Options) error {
	if len(s.Args) < 2 || strings.Trim(strings.ToLower(s.Args[0]), "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil
	}
	if _, err := strconv.ParseFloat(s.Args[1], 64); err == nil && s.After < len(s.Args)-1 &&
		slices.Contains(rhythms, strings.ToLower(s.Args[0])) {
		return problem.Of(problem.T("unknown mode %s", cli.Quote(s.Args[0])),
			problem.T("%s A task that begins with a number stands after --: %s",
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

// longer refuses a time that is a longer time together with words after it. Words after -- are the
// task, and are not judged. call makes the call with the longer time, for the hint.
func longer(s *cli.Call, o when.Options, form when.Form, call func(text string) problem.Call, text string,
	after []string) error {
	behind := after
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
		run := text + " " + strings.Join(after[:n], " ")
		sched, fault := when.Parse(run, o)
		if fault != nil {
			switch code := cli.Explain(fault).Code; {
			case code == problem.Ambiguous && err != nil:
				return fault // "at 9" would be a time if it were said more clearly
			case code != problem.Past:
				continue
			}
		}
		f := problem.New(problem.Ambiguous, problem.T("%s is a time as well, not only %s", cli.Quote(run),
			cli.Quote(text)),
			problem.T("did you mean %s?", call(run).Saying(after[n:]...)))
		if err != nil {
			a := "a time"
			if form == when.CronForm {
				a = "a cron line"
			}
			f.Code, f.Message = problem.NotUnderstood, problem.T("%s is not %s, but %s is", cli.Quote(text),
				a, cli.Quote(run))
		}
		if fault != nil {
			return f
		}
		now := o.Now
		if at, ok := sched.Next(now.Add(-1)); ok {
			f.Candidates = append(f.Candidates, when.Candidate{Text: run, At: at})
		}
		if short == nil {
			return f
		}
		// In its place the task would be part of a longer time again.
		if short.Canonical == text || longer(s, o, form, call, short.Canonical, behind) != nil {
			f.Hint = problem.T("%s If %s is the time: %s", f.Hint, cli.Quote(text), call(text).Running(after...))
		} else if at, ok := short.Next(now.Add(-1)); ok {
			f.Candidates = append(f.Candidates, when.Candidate{Text: short.Canonical, At: at})
		}
		return f
	}
	return nil
}

// modeExample is a call of the older form that works.
func modeExample(mode string) problem.Call {
	value := map[string]string{"delay": "30", "interval": "300", "cron": "0 9 * * *"}[mode]
	return problem.To("wait", mode, value, "check the oven")
}
