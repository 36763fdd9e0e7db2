// Licences writes the licences of the modules of which ouro-timer is linked, on any system that it
// is released for, into one file: go run ./.ci/licences FILE. A module without one is an error.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var systems = []string{"linux", "darwin", "freebsd", "windows"}

// licence matches the names of files with a licence, or with notices that belong to one.
var licence = regexp.MustCompile(`^(?i)(licen[cs]e|copying|notice|patents|unlicense|APLv2|GPLv3)([.-].*)?$`)

type module struct{ Path, Version, Dir string }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: go run ./.ci/licences FILE")
	}
	modules := map[string]module{}
	for _, system := range systems {
		if err := linked(system, modules); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, "Ouro-timer is linked from the modules below and from the standard library of Go. These are their licences.")
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	modules["go"] = module{"The standard library of Go", "", strings.TrimSpace(string(goroot))}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		if err := write(&out, modules[path]); err != nil {
			return err
		}
	}
	return os.WriteFile(args[0], out.Bytes(), 0o644)
}

// linked adds the modules of the packages in the program for a system.
func linked(system string, modules map[string]module) error {
	cmd := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_docs", "-json=Module", ".")
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list for %s: %w", system, err)
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			Module *struct {
				module
				Main bool
			}
		}
		if err := dec.Decode(&p); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module != nil && !p.Module.Main {
			modules[p.Module.Path] = p.Module.module
		}
	}
}

// write adds the files of a module that are licences, in the order of their names.
func write(out *bytes.Buffer, m module) error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licence.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(out, "\n%s\n%s, %s\n\n", strings.Repeat("=", 100), strings.TrimSpace(m.Path+" "+m.Version), e.Name())
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			fmt.Fprintln(out, strings.TrimRight(lines.Text(), " \t\r"))
		}
	}
	if !found {
		return fmt.Errorf("%s %s has no licence", m.Path, m.Version)
	}
	return nil
}
