package metrics

import (
	"bytes"
	"strconv"
	"strings"
)

// ContentType is that of Text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Family is a metric with its samples.
type Family struct {
	Name    string   `json:"name"`
	Type    Type     `json:"type"`
	Help    string   `json:"help" jsonschema:"what it counts, in one line"`
	Samples []Sample `json:"samples"`
}

// Type is what the samples of a family are.
type Type string

// The types that there are here.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Sample is a value. Of a histogram the suffix says which: _bucket, whose label le is the upper
// bound, _sum or _count.
type Sample struct {
	Suffix string  `json:"suffix,omitempty" jsonschema:"of a histogram: _bucket, _sum or _count"`
	Labels Labels  `json:"labels,omitempty"`
	Value  float64 `json:"value"`
}

// Labels tell samples of a family from each other, each by its name.
type Labels map[string]string

// Text writes families in Prometheus' text format, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/), as every scraper and
// node_exporter's textfile collector reads it. It is 40 lines rather than a library: all that we
// have is read when it is asked for, and a registry of live counters, which is most of such a
// library, would cost every call of every command its start.
func Text(families []Family) []byte {
	var b bytes.Buffer
	for _, f := range families {
		b.WriteString("# HELP " + f.Name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(f.Help) + "\n")
		b.WriteString("# TYPE " + f.Name + " " + string(f.Type) + "\n")
		for _, s := range f.Samples {
			b.WriteString(f.Name + s.Suffix)
			between := byte('{')
			for _, name := range s.Labels.names() {
				b.WriteByte(between)
				b.WriteString(name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s.Labels[name]) + `"`)
				between = ','
			}
			if len(s.Labels) > 0 {
				b.WriteByte('}')
			}
			b.WriteString(" " + number(s.Value) + "\n")
		}
	}
	return b.Bytes()
}

// number writes numbers in full: what counts is not 1e+06.
func number(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
