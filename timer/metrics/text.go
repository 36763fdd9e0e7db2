package metrics

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ContentType is the content type of Text in HTTP.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Family is a metric with its samples.
type Family struct {
	Name    string   `json:"name"`
	Type    Type     `json:"type"`
	Help    string   `json:"help" jsonschema:"what it counts, in one line"`
	Samples []Sample `json:"samples"`
}

// Type is the type of a metric, as Prometheus names it.
type Type string

// The types that this package uses.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Sample is one value of a metric. A histogram has samples with the suffixes _bucket, whose label
// le is the upper bound, _sum and _count.
type Sample struct {
	Suffix string  `json:"suffix,omitempty" jsonschema:"of a histogram: _bucket, _sum or _count"`
	Labels Labels  `json:"labels,omitempty"`
	Value  float64 `json:"value"`
}

// Labels distinguish the samples of a family. They are values by names.
type Labels map[string]string

// Text writes families in Prometheus' text format, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Every scraper and node_exporter's
// textfile collector read it. It does not use a library, because most of such a library is a
// registry of live counters, which would make every command start more slowly.
func Text(families []Family) []byte {
	var b bytes.Buffer
	for _, f := range families {
		b.WriteString("# HELP " + f.Name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(f.Help) + "\n")
		b.WriteString("# TYPE " + f.Name + " " + string(f.Type) + "\n")
		for _, s := range f.Samples {
			b.WriteString(f.Name + s.Suffix)
			separator := byte('{')
			for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
				b.WriteByte(separator)
				b.WriteString(name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s.Labels[name]) + `"`)
				separator = ','
			}
			if len(s.Labels) > 0 {
				b.WriteByte('}')
			}
			b.WriteString(" " + number(s.Value) + "\n")
		}
	}
	return b.Bytes()
}

// number writes a number without an exponent.
func number(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
