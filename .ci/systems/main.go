// Command systems checks that the program is valid Go on systems other than this one: go run ./.ci/systems GOOS/GOARCH...
//
// It reads the same files as go build would there, and checks their types; of packages that are not ours, only what they declare. That
// finds what a build for that system would, but for faults of the linker, and generates no code: a build from an empty cache takes most
// of a minute for each system, this a few seconds.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		ours, err := check(system)
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", system, err)
			continue
		}
		fmt.Printf("%-16s %d packages of ours\n", system, ours)
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package as go list tells of it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// check checks all packages as they are on a system, and says how many of them are ours.
func check(system string) (ours int, err error) {
	goos, arch, _ := strings.Cut(system, "/")
	sizes := types.SizesFor("gc", arch)
	if sizes == nil {
		return 0, fmt.Errorf("%q is no GOOS/GOARCH", system)
	}
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w", err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	// Each comes after those that it imports.
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return ours, nil
		} else if err != nil {
			return ours, err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		if p.Error != nil {
			return ours, errors.New(p.Error.Err)
		}
		own := p.Module != nil && p.Module.Main
		if own {
			ours++
		}
		if checked[p.ImportPath], err = typesOf(p, own, checked, sizes); err != nil {
			return ours, err
		}
	}
}

// typesOf checks one package, given those it imports. Only of what is ours are the bodies of functions looked at.
func typesOf(p listed, own bool, checked map[string]*types.Package, sizes types.Sizes) (*types.Package, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	var errs []error
	config := types.Config{
		Sizes: sizes, IgnoreFuncBodies: !own,
		Error: func(err error) { errs = append(errs, err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if real, ok := p.ImportMap[path]; ok {
				path = real
			}
			if found := checked[path]; found != nil {
				return found, nil
			}
			return nil, fmt.Errorf("%s was not listed", path)
		}),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	found, _ := config.Check(p.ImportPath, set, files, nil) // its error is the first of errs
	return found, errors.Join(errs...)
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
