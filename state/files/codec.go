package files

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/ouro-timer/ouro-timer/state"
)

// recordLimit bounds what is read of an open record: a task and a little more.
const recordLimit = state.TaskLimit + 1<<16

// endLine is the last line of every TOML file of ours. A file cut short is often TOML still, with half its variables gone:
// this line is how that is noticed.
const endLine = "# end\n"

// errDecode is a file whose content is wrong: no waiting and no other user will make it right.
var errDecode = errors.New("cannot be understood")

// encodeTask writes the file of a task that state.Check lets pass, and returns the task as readers will have it. Unknown keys, as decodeTask
// found them, are put back. state.ErrInvalid when the file is too large or cannot be read again.
func encodeTask(t state.Task, unknown map[string]any) (data []byte, read state.Task, err error) {
	var v any = t
	if len(unknown) > 0 {
		plain, err := encode(t)
		if err != nil {
			return nil, t, err
		}
		all := map[string]any{}
		if _, err := decodeTOML(string(plain), recordBounds, &all); err != nil {
			return nil, t, fmt.Errorf("%w: %w", state.ErrInvalid, err)
		}
		merge(all, unknown)
		v = all
	}
	if data, err = encode(v); err == nil {
		err = state.CheckSize(len(data))
	}
	if err != nil {
		return nil, t, err
	}
	// The library writes some things that it cannot read again. A task that was accepted must be readable.
	if read, _, err = decodeTask(data); err != nil {
		return nil, t, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return data, read, nil
}

// encode writes any of our TOML files.
func encode(v any) ([]byte, error) {
	data, ok := plainText(v)
	if !ok {
		var err error
		if data, err = encodeAny(v); err != nil {
			return nil, err
		}
	}
	data = append(data, endLine...)
	for _, t := range emptyTables { // a text with such lines in it is written with \n
		data = bytes.Replace(data, []byte(t[0]), []byte(t[1]), 1)
	}
	return data, nil
}

// encodeAny is encode by the library, without the last line.
func encodeAny(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := toml.NewEncoder(&b)
	enc.Indent = ""
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return b.Bytes(), nil
}

// emptyTables are tables that say nothing, as the library writes them all the same: it takes no number for empty.
var emptyTables = [][2]string{{"\n[policy]\n" + endLine, endLine}, {"\n[task.policy]\n\n[", "\n\n["}}

// decodeTask reads a task's file, and the keys in it that this version does not know. state.ErrNewer when a later version
// wrote it, errDecode when it is broken.
func decodeTask(data []byte) (t state.Task, unknown map[string]any, err error) {
	if t, ok := plainTask(data); ok {
		return t, nil, nil
	}
	return decodeAnyTask(data)
}

// decodeAnyTask is decodeTask by the library.
func decodeAnyTask(data []byte) (t state.Task, unknown map[string]any, err error) {
	md, err := decodeWithin(data, taskBounds, &t)
	if err != nil {
		return state.Task{}, nil, err
	}
	if err := errors.Join(checkOffsets(data), fitTask(&t)); err != nil {
		return state.Task{}, nil, err
	}
	if odd := unknownKeys(md); len(odd) > 0 {
		all := map[string]any{}
		if _, err := decodeTOML(string(data), taskBounds, &all); err != nil {
			return state.Task{}, nil, fmt.Errorf("%w: %w", errDecode, err)
		}
		unknown = map[string]any{}
		for _, key := range odd {
			keep(unknown, all, key)
		}
	}
	return t, unknown, nil
}

// decode reads one of our TOML files into v.
func decode(data []byte, v any) (toml.MetaData, error) { return decodeWithin(data, recordBounds, v) }

func decodeWithin(data []byte, most tomlBounds, v any) (md toml.MetaData, err error) {
	if !utf8.Valid(data) {
		return md, fmt.Errorf("%w: it is not valid UTF-8", errDecode)
	}
	// A newer file may use what this version reads as an error, so its number is looked at first, and alone.
	if n := formatLine(data); n > state.Format {
		return md, newer(n)
	}
	if !bytes.Contains(data, []byte("\n"+endLine)) {
		return md, fmt.Errorf("%w: it was cut short: its last line, %q, is missing", errDecode, strings.TrimSpace(endLine))
	}
	md, err = decodeTOML(string(data), most, v)
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return md, fmt.Errorf("%w: line %d: %s", errDecode, parse.Position.Line, shortWord(parse.Message))
	}
	if err != nil {
		return md, fmt.Errorf("%w: %s", errDecode, shortWord(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	return md, nil
}

func newer(format int) error {
	return fmt.Errorf("%w: its format is %d, and this version knows %d", state.ErrNewer, format, state.Format)
}

// formatLine is the number on the first line that says format = N, 0 when there is none.
func formatLine(data []byte) int {
	for line := range bytes.Lines(data) {
		key, value, ok := bytes.Cut(line, []byte("="))
		if !ok || string(bytes.TrimSpace(key)) != "format" {
			continue
		}
		n := 0
		if _, err := fmt.Sscan(string(value), &n); err != nil {
			return 0
		}
		return n
	}
	return 0
}

// fitTask checks what every task has, and puts its instants into UTC: which zone a decoded instant is in would otherwise
// depend on the machine's.
func fitTask(t *state.Task) error {
	switch {
	case t.Format > state.Format:
		return newer(t.Format)
	case t.Format < 1:
		return fmt.Errorf("%w: format is missing", errDecode)
	case t.Revision < 1:
		return fmt.Errorf("%w: revision is missing", errDecode)
	case !t.When.Complete():
		return fmt.Errorf("%w: when.text or when.kind is missing", errDecode)
	}
	*t = t.UTC()
	return nil
}

// checkOffsets refuses an instant of ours without an offset, which the library would read in the machine's zone and not say.
func checkOffsets(data []byte) error {
	for line := range bytes.Lines(data) {
		line = bytes.TrimLeft(line, " \t")
		if len(line) == 0 || line[0] != 'c' && line[0] != 's' && line[0] != 'e' {
			continue
		}
		key, value, _ := bytes.Cut(line, []byte("="))
		switch name := string(bytes.TrimRight(key, " \t")); name {
		case "created", "start", "end":
			value, _, _ = bytes.Cut(value, []byte("#"))
			value = bytes.TrimSpace(value)
			if n := len(value); n >= len(time.DateOnly) && value[4] == '-' && value[n-1] != 'Z' && value[n-1] != 'z' &&
				!bytes.ContainsAny(value[len(time.DateOnly):], "+-") {
				return fmt.Errorf("%w: %s says no offset from UTC: write it as in 2026-11-23T09:00:00+01:00", errDecode, name)
			}
		}
	}
	return nil
}

// unknownKeys are the keys of a file that were not read, without those below another.
func unknownKeys(md toml.MetaData) (keys []toml.Key) {
	seen := map[string]bool{}
next:
	for _, key := range md.Undecoded() {
		for n := range key[1:] {
			if seen[key[:n+1].String()] {
				continue next
			}
		}
		seen[key.String()] = true
		keys = append(keys, key)
	}
	return keys
}

// keep copies the value under key from one tree to another.
func keep(to, from map[string]any, key toml.Key) {
	for _, part := range key[:len(key)-1] {
		below, ok := from[part].(map[string]any)
		if !ok {
			return
		}
		if _, ok := to[part].(map[string]any); !ok {
			to[part] = map[string]any{}
		}
		from, to = below, to[part].(map[string]any)
	}
	last := key[len(key)-1]
	to[last] = from[last]
}

// merge adds what only the second tree has to the first.
func merge(to, from map[string]any) {
	for key, v := range from {
		below, isTree := v.(map[string]any)
		if mine, ok := to[key].(map[string]any); ok && isTree {
			merge(mine, below)
		} else if _, taken := to[key]; !taken {
			to[key] = v
		}
	}
}
