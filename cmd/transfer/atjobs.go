package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// readAtJobs returns the waiting jobs of at(1). Each is the script that at -c shows, which changes
// to its folder and sets its variables itself.
func readAtJobs(ctx context.Context, s *cli.Call) (source, error) {
	if len(s.Args) > 1 {
		return source{}, problem.Of(problem.T("import at takes no file, and %s is one", cli.Quote(s.Args[1])),
			problem.T("%s", problem.To("import", kindAt)))
	}
	me, err := currentUser()
	if err != nil {
		return source{}, err
	}
	zone, err := s.Zone()
	if err != nil {
		return source{}, err
	}
	// atq writes times in English and in this zone
	list, err := outputWith(ctx, []string{"LC_ALL=C", "TZ=" + zone.String()}, "atq")
	if err != nil {
		return source{}, err
	}
	from := source{name: "atq", group: groupOf(s, kindAt, me.Username)}
	lines := strings.Split(strings.TrimSpace(list), "\n")
	slices.SortStableFunc(lines, func(x, y string) int { return cmp.Compare(jobNumber(x), jobNumber(y)) })
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 8 || fields[6] == "=" { // the job runs already
			continue
		}
		w := sourceTask{line: i + 1, label: "job " + fields[0], text: line, world: schedule.WorldOf(s)}
		at, err := time.ParseInLocation("Jan _2 15:04:05 2006", strings.Join(fields[2:6], " "), zone)
		switch {
		case err != nil:
			w.err = problem.Of(problem.T("its time %s cannot be read", cli.Quote(strings.Join(fields[1:6], " "))),
				problem.T("have atq write times in English: LC_ALL=C"))
		case fields[7] != me.Username:
			w.err = problem.New(problem.NotAllowed, problem.T("it belongs to %s, and you are %s", fields[7],
				me.Username), problem.T("import it as that user"))
		case (fields[6] == "b" || fields[6] < "a") && !at.After(s.Stamp()): // atd has those wait on
			w.err = problem.Of(problem.T("it is a job of batch, which waits for a low load; here a task waits for a time"),
				problem.T("at -c %s > job.sh; %s", fields[0], problem.To("at", "every", "1m").
					With("if", "test $(cut -d. -f1 /proc/loadavg) -lt 2").With("until-ok", true).With("f", "job.sh")))
		}
		text, key := at.Format("2006-01-02T15:04:05"), from.group+fields[0]
		shell, description := "/bin/sh", fmt.Sprintf("job %s of at", fields[0])
		w.spec = tasks.Spec{When: &text, Form: when.UntilForm, Key: &key, Program: &shell, Description: &description,
			Script: func(ctx context.Context) (string, error) { return jobScript(ctx, fields[0]) }}
		if queue := fields[6]; queue != "a" {
			w.notes = append(w.notes, "it is in the queue "+queue+
				": here it begins at its time, whatever the load is, and with the same priority as the others")
		}
		from.list = append(from.list, w)
	}
	return from, nil
}

func jobNumber(line string) int {
	number, _, _ := strings.Cut(line, "\t")
	n, _ := strconv.Atoi(number)
	return n
}

// jobScript is the script of a job. at(1) writes a backslash before each byte of a letter that is
// not ASCII, in variables and in the folder, which makes the text invalid. To the shell it means
// the same without.
func jobScript(ctx context.Context, job string) (string, error) {
	text, err := outputOf(ctx, "at", "-c", job)
	if err != nil || utf8.ValidString(text) {
		return text, err
	}
	const end = "inaccessible' >&2\n\t exit 1\n}\n" // the end of the lines that at wrote
	if i := strings.Index(text, end); i >= 0 {
		var b strings.Builder
		head := text[:i+len(end)]
		for j := range len(head) {
			if head[j] != '\\' || j+1 == len(head) || head[j+1] < utf8.RuneSelf {
				b.WriteByte(head[j])
			}
		}
		text = b.String() + text[len(head):]
	}
	if !utf8.ValidString(text) {
		return "", problem.Of(problem.T("its script, or a variable of it, is not valid UTF-8"),
			problem.T("keep the script in a file, and schedule that: %s",
				problem.To("at", "WHEN").Running("/path/to/script")))
	}
	return text, nil
}
