package codec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/ouro-timer/ouro-timer/state"
)

// EncodeTask encodes the file of a task that state.Check accepts, and returns the task as it will
// be decoded. The file also gets the unknown keys that DecodeTask found. It returns
// state.ErrInvalid if the file is too large or cannot be decoded again.
func EncodeTask(t state.Task, unknown map[string]any) (data []byte, read state.Task, err error) {
	var v any = t
	if len(unknown) > 0 {
		plain, err := Encode(t)
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
	if data, err = Encode(v); err == nil {
		err = state.CheckSize(len(data))
	}
	if err != nil {
		return nil, t, err
	}
	// The library encodes some values that it cannot decode. A task that was accepted must be
	// readable.
	if read, _, err = DecodeTask(data); err != nil {
		return nil, t, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return data, read, nil
}

// DecodeTask decodes the file of a task, and the keys in it that this version does not know. It
// returns state.ErrNewer if a later version wrote it, and ErrBroken if it is damaged.
func DecodeTask(data []byte) (t state.Task, unknown map[string]any, err error) {
	unknown, err = ReadTask(data, &t)
	return t, unknown, err
}

// ReadTask is DecodeTask into an existing task, so that a caller that reads many tasks one after
// the other needs no memory for each.
func ReadTask(data []byte, into *state.Task) (unknown map[string]any, err error) {
	if *into = (state.Task{}); readPlainTask(data, into) {
		return nil, nil
	}
	*into, unknown, err = decodeAnyTask(data)
	return unknown, err
}

// readPlainTask is readPlainFile of a task. It returns false for a file with unknown keys.
func readPlainTask(data []byte, into *state.Task) bool {
	return readPlainFile(data, into) && into.Format == state.Format && normalizeTask(into) == nil
}

// decodeAnyTask is DecodeTask by the library.
func decodeAnyTask(data []byte) (t state.Task, unknown map[string]any, err error) {
	undecoded, err := decodeAny(data, taskBounds, &t)
	if err == nil {
		err = errors.Join(checkOffsets(data), normalizeTask(&t))
	}
	if err != nil {
		return state.Task{}, nil, err
	}
	if len(undecoded) == 0 {
		return t, nil, nil
	}
	all := map[string]any{}
	if _, err := decodeTOML(string(data), taskBounds, &all); err != nil {
		return state.Task{}, nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	unknown = map[string]any{}
	for _, key := range undecoded {
		copyKey(unknown, all, key)
	}
	return t, unknown, nil
}

// normalizeTask checks what every task has, and converts its instants to UTC. Otherwise the zone of
// a decoded instant would depend on that of the machine.
func normalizeTask(t *state.Task) error {
	switch {
	case t.Format > state.Format:
		return newer(t.Format)
	case t.Format < 1:
		return fmt.Errorf("%w: format is missing", ErrBroken)
	case t.Revision < 1:
		return fmt.Errorf("%w: revision is missing", ErrBroken)
	case !t.When.Complete():
		return fmt.Errorf("%w: when.text or when.kind is missing", ErrBroken)
	}
	t.Created, t.When.Start, t.When.End = state.UTC(t.Created), state.UTC(t.When.Start), state.UTC(t.When.End)
	return nil
}

// checkOffsets refuses an instant without an offset from UTC. The library would take it for one in
// the zone of the machine, without an error.
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
				return fmt.Errorf("%w: %s has no offset from UTC: write it as in 2026-11-23T09:00:00+01:00", ErrBroken, name)
			}
		}
	}
	return nil
}

// unknownKeys returns the keys of a file that were not decoded, without those inside another one.
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

// copyKey copies the value of a key from one tree to another.
func copyKey(to, from map[string]any, key toml.Key) {
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

// merge adds to the first tree what only the second one has.
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

// Names returns the keys of a tree that have values, in order. A key begins with the tables that
// contain it, each with a dot.
func Names(tree map[string]any) (names []string) {
	for key, v := range tree {
		below, isTree := v.(map[string]any)
		if !isTree {
			names = append(names, key)
		}
		for _, name := range Names(below) {
			names = append(names, key+"."+name)
		}
	}
	slices.Sort(names)
	return names
}
