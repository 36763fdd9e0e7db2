//go:build unix

package proc

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"a/tool": 0o755, "b/tool": 0o755, "b/other": 0o700, "c/tool": 0o644, "c/data": 0o644, "here": 0o755,
		"folder/tool/x": 0o755,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c, folder := dir+"/a", dir+"/b", dir+"/c", dir+"/folder"
	tests := []struct {
		what, name, path string
		want             string // below dir; empty: refused with code
		code             int
	}{
		{"the first folder wins", "tool", a + ":" + b, "a/tool", 0},
		{"the second is asked too", "other", a + ":" + b, "b/other", 0},
		{"what cannot be executed is passed over", "tool", c + ":" + b, "b/tool", 0},
		{"a folder is not a program", "tool", folder + ":" + b, "b/tool", 0},
		{"a folder that does not exist is passed over", "tool", "/none:" + a, "a/tool", 0},
		{"a file instead of a folder is passed over", "tool", dir + "/here:" + a, "a/tool", 0},
		{"an empty element is the folder of the task", "here", a + "::" + b, "here", 0},
		{"a relative element counts from there", "other", "b", "b/other", 0},
		{"an absolute name needs no PATH", a + "/tool", "", "a/tool", 0},
		{"a relative name needs no PATH", "./b/other", "", "b/other", 0},
		{"nowhere", "nothing", a + ":" + b, "", 127},
		{"no PATH", "tool", "", "", 127},
		{"only one that cannot be executed", "data", a + ":" + c, "", 126},
		{"a name that cannot be executed", "c/data", "", "", 126},
		{"a name that is a folder", "./folder", "", "", 126},
		{"no name", "", a, "", 127},
	}
	for _, tt := range tests {
		got, err := LookPath(tt.name, tt.path, dir)
		if tt.want != "" {
			if want := filepath.Join(dir, tt.want); err != nil || got != want {
				t.Errorf("%s: got %q, %v; want %q", tt.what, got, err, want)
			}
			continue
		}
		var se *StartError
		if !errors.As(err, &se) || se.ExitCode() != tt.code || se.Path != tt.name {
			t.Errorf("%s: got %q, %v; want code %d", tt.what, got, err, tt.code)
		}
	}
}

func TestPathIsTheChilds(t *testing.T) {
	dir := t.TempDir()
	if err := writeProgram(filepath.Join(dir, "only-there"), []byte("#!/bin/sh\necho found\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, _ := output(t, Spec{Argv: []string{"only-there"}, Env: []string{"PATH=" + dir}, Dir: "/", Umask: -1})
	if got != "found\n" {
		t.Errorf("got %q", got)
	}
	t.Setenv("PATH", dir)
	if _, err := Start(Spec{Argv: []string{"only-there"}, Env: testEnv, Dir: "/", Umask: -1}); err == nil {
		t.Error("our own PATH was asked")
	}
}

func TestPathOf(t *testing.T) {
	tests := []struct {
		env  []string
		want string
	}{
		{nil, defaultPath},
		{[]string{"HOME=/"}, defaultPath},
		{[]string{"PATH=/a", "XPATH=/b"}, "/a"},
		{[]string{"PATH=/a", "PATH=/b"}, "/b"},
		{[]string{"PATH="}, ""},
	}
	for _, tt := range tests {
		if got := pathOf(tt.env); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.env, got, tt.want)
		}
	}
}

// TestFoundLately: what was found a moment ago is not looked for again while it is there.
func TestFoundLately(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, folder := range []string{a, b} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put := func(folder string) {
		if err := writeProgram(filepath.Join(folder, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	recentPaths.clear()
	expect := func(folder string) {
		t.Helper()
		got, err := Spec{Argv: []string{"tool"}, Dir: dir, Env: []string{"PATH=" + a + ":" + b}}.find()
		if want := filepath.Join(folder, "tool"); err != nil || got != want {
			t.Errorf("found %q, %v; want %q", got, err, want)
		}
	}
	put(b)
	expect(b)
	put(a)
	expect(b)
	recentPaths.since = time.Now().Add(-recentFor)
	expect(a)
	if err := os.Remove(filepath.Join(a, "tool")); err != nil {
		t.Fatal(err)
	}
	expect(b)
}
