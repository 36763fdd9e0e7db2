package view

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// PolicyJSON is the policy of a task: in show it is the policy in force, with its defaults; in a
// confirmation it has only what was given.
type PolicyJSON struct {
	Catchup     *string  `json:"catchup,omitempty"`
	Window      *float64 `json:"window_seconds,omitempty"`
	Overlap     *string  `json:"overlap,omitempty"`
	If          *string  `json:"if,omitempty"`
	Timeout     *float64 `json:"timeout_seconds,omitempty"`
	Retries     int      `json:"retries,omitempty"`
	Backoff     *float64 `json:"backoff_seconds,omitempty"`
	Factor      int      `json:"backoff_factor,omitempty" jsonschema:"absent: 2"`
	Rerun       bool     `json:"rerun_interrupted,omitempty"`
	Nice        int      `json:"nice,omitempty"`
	IONice      *string  `json:"ionice,omitempty"`
	Memory      int64    `json:"memory_bytes,omitempty" jsonschema:"the most memory of a run; absent: no limit"`
	CPU         int      `json:"cpu_percent,omitempty" jsonschema:"the most processor time of a run, 100 for one processor; absent: no limit"`
	UntilOK     bool     `json:"until_ok,omitempty"`
	UntilOutput *string  `json:"until_output,omitempty"`
	Tell        []string `json:"tell,omitempty" jsonschema:"the channels by which it tells, also where they are those of the configuration"`
	TellOn      *string  `json:"tell_on,omitempty" jsonschema:"when it does; absent: the configuration cannot be read"`
}

// PolicyInForce is the policy with the defaults in force.
func PolicyInForce(t state.Task) PolicyJSON {
	p := t.Policy
	j := PolicyJSON{
		Catchup: cli.OrNull(cmp.Or(p.Catchup, state.CatchupOnce)),
		Overlap: cli.OrNull(cmp.Or(p.Overlap, state.OverlapSkip)),
		Window:  spanSeconds(p.Window), Timeout: spanSeconds(p.Timeout), Backoff: spanSeconds(p.Backoff),
		If: cli.OrNull(p.If), Retries: p.Retries, Factor: p.Factor, Rerun: p.Rerun, Nice: p.Nice,
		IONice: cli.OrNull(p.IONice), Memory: p.Memory, CPU: p.CPU, UntilOK: p.UntilOK,
		UntilOutput: cli.OrNull(p.UntilOutput),
	}
	if t.Told() {
		j.Overlap = nil // messages do not overlap
	}
	return j
}

// spanSeconds is a duration of a policy in JSON; null when there is none.
func spanSeconds(text string) *float64 {
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil
	}
	return new(cli.Seconds(d))
}

// PolicyField is a part of a policy that is not the default, named as its option.
type PolicyField struct{ Name, Value string }

// PolicyFields are the parts of a policy that are not the default, for people.
func PolicyFields(t state.Task) []PolicyField {
	p := t.Policy
	yes := func(set bool) string {
		if set {
			return "yes"
		}
		return ""
	}
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	memory, cpu := "", ""
	if p.Memory > 0 {
		memory = tasks.SizeText(p.Memory)
	}
	if p.CPU > 0 {
		cpu = strconv.Itoa(p.CPU) + "%"
	}
	var set []PolicyField
	for _, f := range []PolicyField{
		{"catchup", p.Catchup}, {"window", AsTyped(p.Window)}, {"overlap", p.Overlap}, {"if", p.If},
		{"timeout", AsTyped(p.Timeout)}, {"retries", number(p.Retries)},
		{"backoff", AsTyped(p.Backoff)}, {"backoff factor", number(p.Factor)}, {"rerun", yes(p.Rerun)}, {"nice", number(p.Nice)},
		{"ionice", p.IONice}, {"memory", memory}, {"cpu", cpu},
		{"until ok", yes(p.UntilOK)}, {"until output", p.UntilOutput}, {"prefix", p.Prefix},
	} {
		if f.Value != "" {
			set = append(set, f)
		}
	}
	return set
}

// AsTyped is a length of time of a task without the units of which it has none: 1h for 1h0m0s.
func AsTyped(span string) string {
	for _, none := range []string{"m0s", "h0m"} {
		if rest, has := strings.CutSuffix(span, none); has {
			span = rest + none[:1]
		}
	}
	return span
}
