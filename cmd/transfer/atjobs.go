package transfer

import (
	"context"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// jobsOf are the jobs of at(1) that wait: each is the script that at -c shows, which goes to its folder and sets its variables itself.
func jobsOf(ctx context.Context, s *cli.Call) (source, error) {
	if len(s.Args) > 1 {
		return source{}, problem.Of(problem.T("%s: the jobs of at are in no file of yours", cli.Quote(s.Args[1])), problem.T("%s", problem.To("import", kindAt)))
	}
	list, err := answerOf(ctx, "atq")
	if err != nil {
		return source{}, err
	}
	me, err := user.Current()
	if err != nil {
		return source{}, problem.New(problem.Failed, problem.T("who calls cannot be told: %v", err), problem.T("call as a user of this machine"))
	}
	zone, err := s.Zone()
	if err != nil {
		return source{}, err
	}
	from := source{name: "atq", group: groupOf(s, kindAt, me.Username)}
	lines := strings.Split(strings.TrimSpace(list), "\n")
	slices.Sort(lines)
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 8 || fields[6] == "=" { // one that runs already
			continue
		}
		w := wanted{line: i + 1, label: "job " + fields[0], text: line, world: schedule.WorldOf(s)}
		at, err := time.ParseInLocation("Jan _2 15:04:05 2006", strings.Join(fields[2:6], " "), zone)
		switch {
		case err != nil:
			w.err = problem.Of(problem.T("its time %s cannot be read", cli.Quote(strings.Join(fields[1:6], " "))), problem.T("have atq write times in English: LC_ALL=C"))
		case fields[7] != me.Username:
			w.err = problem.New(problem.NotAllowed, problem.T("it is %s's, and you are %s", fields[7], me.Username), problem.T("import it as that user"))
		}
		text, key := at.Format("2006-01-02T15:04:05"), from.group+fields[0]
		shell, description := "/bin/sh", fmt.Sprintf("job %s of at", fields[0])
		w.spec = tasks.Spec{When: &text, Form: when.UntilForm, Key: &key, Program: &shell, Description: &description,
			Script: func(ctx context.Context) (string, error) { return answerOf(ctx, "at", "-c", fields[0]) }}
		from.list = append(from.list, w)
	}
	return from, nil
}
