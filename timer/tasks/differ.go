package tasks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// differences returns the fields in which two tasks differ, as show --json names them.
func differences(a, b state.Task, dueA, dueB time.Time) []string {
	recurring := a.Recurring() || b.Recurring()
	names := []string{}
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"due", !dueA.Equal(dueB)},
		{"when", a.When.Text != b.When.Text || a.When.Form != b.When.Form || a.When.Wall != b.When.Wall},
		{"after", !maps.Equal(a.When.After, b.When.After)},
		{"kind", a.When.Kind != b.When.Kind},
		{"tz", a.When.Zone != b.When.Zone},
		{"start", recurring && !a.When.Start.Equal(b.When.Start)},
		{"end", !a.When.End.Equal(b.When.End)},
		{"count", a.When.Count != b.When.Count},
		{"except", !slices.Equal(a.When.Except, b.When.Except) || !slices.Equal(a.When.ExceptDays, b.When.ExceptDays)},
		{"jitter", a.When.Jitter != b.When.Jitter || a.When.Delay != b.When.Delay},
		{"origin", a.Origin != b.Origin},
		{"type", a.Type() != b.Type()},
		{"description", a.Description != b.Description},
		{"task", a.Text != b.Text},
		{"tags", !slices.Equal(a.Tags, b.Tags)},
		{"on", !slices.Equal(a.On, b.On)},
		{"command", !slices.Equal(a.Run.Argv, b.Run.Argv)},
		{"agent", !slices.Equal(a.Run.Agent, b.Run.Agent)},
		{"title", a.Reminder.Title != b.Reminder.Title},
		{"project_id", a.Reminder.Project != b.Reminder.Project},
		{"priority", cmp.Or(a.Reminder.Priority, state.PriorityMedium) != cmp.Or(b.Reminder.Priority, state.PriorityMedium)},
		{"rpc_request", a.Reminder.Request != b.Reminder.Request},
		{"shell", a.Run.Shell != b.Run.Shell},
		{"script", a.Run.Script != b.Run.Script},
		{"program", a.Run.Prog != b.Run.Prog},
		{"dir", a.Run.Dir != b.Run.Dir},
		{"umask", a.Run.Umask != b.Run.Umask},
		{"env", !maps.Equal(a.Run.Env, b.Run.Env)},
		{"catchup", a.Policy.Catchup != b.Policy.Catchup},
		{"window", a.Policy.Window != b.Policy.Window},
		{"overlap", a.Policy.Overlap != b.Policy.Overlap},
		{"if", a.Policy.If != b.Policy.If},
		{"timeout", a.Policy.Timeout != b.Policy.Timeout},
		{"retries", a.Policy.Retries != b.Policy.Retries},
		{"backoff", a.Policy.Backoff != b.Policy.Backoff},
		{"backoff_factor", a.Policy.Factor != b.Policy.Factor},
		{"rerun_interrupted", a.Policy.Rerun != b.Policy.Rerun},
		{"nice", a.Policy.Nice != b.Policy.Nice},
		{"ionice", a.Policy.IONice != b.Policy.IONice},
		{"memory", a.Policy.Memory != b.Policy.Memory},
		{"cpu", a.Policy.CPU != b.Policy.CPU},
		{"until_ok", a.Policy.UntilOK != b.Policy.UntilOK},
		{"until_output", a.Policy.UntilOutput != b.Policy.UntilOutput},
		{"notify", !slices.Equal(a.Policy.Notify, b.Policy.Notify)},
		{"notify_on", a.Policy.NotifyOn != b.Policy.NotifyOn},
		{"prefix", a.Policy.Prefix != b.Policy.Prefix || a.Policy.NoPrefix != b.Policy.NoPrefix},
	} {
		if f.is {
			names = append(names, f.name)
		}
	}
	return names
}
