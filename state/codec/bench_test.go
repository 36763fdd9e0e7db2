package codec

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// usual is a task as they are: a command with the environment of a login.
func usual() state.Task {
	t := once("nightly backup")
	t.Format, t.ID, t.Revision, t.When.Wall = state.Format, state.ID(7), 1, "2026-11-23T09:00:00"
	t.Run.Env = map[string]string{"HOME": "/home/me", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LOGNAME": "me", "OLDPWD": "/", "PATH": "/usr/local/bin:/usr/bin:/bin",
		"PWD": "/home/me", "SHELL": "/bin/bash", "SHLVL": "1", "TERM": "xterm-256color", "USER": "me", "XDG_RUNTIME_DIR": "/run/user/1000"}
	return t
}

func must[T any](b *testing.B) func(v T, err error) T {
	return func(v T, err error) T {
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}

// BenchmarkDecode reads the three kinds of file that are read and written most, and BenchmarkEncode writes them, without the library and with it.
func BenchmarkDecode(b *testing.B) {
	record := state.Record{Task: usual(), Due: day0, Claimed: day0, Number: 1, Runner: state.Ident{PID: 7, Boot: "b"}}
	tally := state.Tally{Number: 3, Fired: 3, Last: "ok", LastDue: day0, LastEnd: day0}
	whole := must[[]byte](b)(EncodeRecord(record))
	for _, c := range []struct {
		name string
		data []byte
		ours func([]byte) error
		into func() any
	}{
		{"task", must[[]byte](b)(Encode(record.Task)), func(data []byte) error { _, _, err := DecodeTask(data); return err }, func() any { return new(state.Task) }},
		{"record", whole, func(data []byte) error { _, err := DecodeRecord(data); return err }, func() any { return new(notedRecord) }},
		{"tally", must[[]byte](b)(Encode(tally)), func(data []byte) error { return Decode(data, new(state.Tally)) }, func() any { return new(state.Tally) }},
	} {
		b.Run(c.name+"/ours", func(b *testing.B) {
			for b.Loop() {
				if err := c.ours(c.data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/library", func(b *testing.B) {
			for b.Loop() {
				if _, err := decodeAny(c.data, recordBounds, c.into()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	record := openRecord{state.Format, state.Record{Task: usual(), Due: day0, Claimed: day0, Number: 1, Runner: state.Ident{PID: 7, Boot: "b"}}}
	tally := state.Tally{Number: 3, Fired: 3, Last: "ok", LastDue: day0, LastEnd: day0}
	for _, c := range []struct {
		name string
		v    any
	}{{"task", usual()}, {"record", record}, {"tally", tally}} {
		b.Run(c.name+"/ours", func(b *testing.B) {
			for b.Loop() {
				if _, err := Encode(c.v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/library", func(b *testing.B) {
			for b.Loop() {
				if _, err := encodeAny(c.v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
