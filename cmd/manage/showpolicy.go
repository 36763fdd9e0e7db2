package manage

import (
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
)

// policyJSON is a task's policy as show tells it: the words in force, also where they are the default.
type policyJSON struct {
	Catchup     *string  `json:"catchup,omitempty"`
	Window      *float64 `json:"window_seconds,omitempty"`
	Overlap     *string  `json:"overlap,omitempty"`
	If          *string  `json:"if,omitempty"`
	Timeout     *float64 `json:"timeout_seconds,omitempty"`
	Retries     int      `json:"retries"`
	Backoff     *float64 `json:"backoff_seconds,omitempty"`
	Rerun       bool     `json:"rerun_interrupted,omitempty"`
	UntilOK     bool     `json:"until_ok,omitempty"`
	UntilOutput *string  `json:"until_output,omitempty"`
	Tell        []string `json:"tell,omitempty" jsonschema:"the channels by which it tells, also where they are those of the configuration"`
	TellOn      *string  `json:"tell_on,omitempty" jsonschema:"when it does; absent: the configuration cannot be read"`
}

func policyOf(t state.Task) policyJSON {
	p := t.Policy
	j := policyJSON{
		Catchup: cli.OrNull(cli.OrElse(p.Catchup, state.CatchupOnce)), Overlap: cli.OrNull(cli.OrElse(p.Overlap, state.OverlapSkip)),
		Window: spanSeconds(p.Window), Timeout: spanSeconds(p.Timeout), Backoff: spanSeconds(p.Backoff),
		If: cli.OrNull(p.If), Retries: p.Retries, Rerun: p.Rerun, UntilOK: p.UntilOK, UntilOutput: cli.OrNull(p.UntilOutput),
	}
	if t.Told() {
		j.Overlap = nil // messages do not
	}
	return j
}

// spanSeconds is a duration of a policy in JSON; null for none.
func spanSeconds(text string) *float64 {
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil
	}
	n := cli.Seconds(d)
	return &n
}

// policyField is a part of a policy that is not the default, named as its option.
type policyField struct{ name, value string }

func policyFields(t state.Task) []policyField {
	p := t.Policy
	number, word := "", func(set bool) string {
		if set {
			return "yes"
		}
		return ""
	}
	if p.Retries > 0 {
		number = strconv.Itoa(p.Retries)
	}
	var set []policyField
	for _, f := range []policyField{
		{"catchup", p.Catchup}, {"window", p.Window}, {"overlap", p.Overlap}, {"if", p.If}, {"timeout", p.Timeout}, {"retries", number},
		{"backoff", p.Backoff}, {"rerun", word(p.Rerun)}, {"until ok", word(p.UntilOK)}, {"until output", p.UntilOutput}, {"prefix", p.Prefix},
	} {
		if f.value != "" {
			set = append(set, f)
		}
	}
	return set
}
