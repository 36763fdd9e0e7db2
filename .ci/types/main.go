// Types checks the types of all packages of the module for other systems than this one: go run
// ./.ci/types linux/arm64 windows/amd64. It does not compile them, and so takes a tenth of the
// time. Releases are compiled for each system.
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
	"sync"
)

// listed is a package of go list, which lists a package after those that it imports.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // of packages that the standard library has copied
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

func main() {
	var wait sync.WaitGroup
	errs := make([]error, len(os.Args)-1)
	for i, target := range os.Args[1:] {
		wait.Go(func() { errs[i] = check(target) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check checks the packages for one system.
func check(target string) error {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return fmt.Errorf("usage: go run ./.ci/types SYSTEM/PROCESSOR..., and not %s", target)
	}
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	c := checked{packages: map[string]*types.Package{"unsafe": types.Unsafe}, sizes: types.SizesFor("gc", arch)}
	for decoder := json.NewDecoder(out); ; {
		var p listed
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if p.Error != nil {
			return fmt.Errorf("%s: %s", target, p.Error.Err)
		}
		if err := c.add(p); err != nil {
			return fmt.Errorf("%s: %s: %w", target, p.ImportPath, err)
		}
	}
	if err := list.Wait(); err != nil {
		return err
	}
	if c.own == 0 {
		return fmt.Errorf("%s: no package of the module was seen", target)
	}
	fmt.Printf("%s: %d packages, %d of them of the module\n", target, len(c.packages), c.own)
	return nil
}

// checked are the checked packages of one system.
type checked struct {
	packages map[string]*types.Package
	sizes    types.Sizes
	own      int
}

// add checks a package whose imports were checked before. It checks only the declarations of
// packages that are not ours.
func (c *checked) add(p listed) error {
	if p.ImportPath == "unsafe" {
		return nil
	}
	ours := p.Module != nil && p.Module.Main
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	var errs []error
	config := types.Config{
		Importer:         imports{c.packages, p.ImportMap},
		Sizes:            c.sizes,
		IgnoreFuncBodies: !ours,
		Error:            func(err error) { errs = append(errs, err) },
	}
	pkg, err := config.Check(p.ImportPath, files, parsed, nil)
	c.packages[p.ImportPath] = pkg
	if !ours {
		return err
	}
	c.own++
	return errors.Join(errs...)
}

// imports finds packages that were checked before.
type imports struct {
	packages map[string]*types.Package
	mapped   map[string]string
}

func (i imports) Import(path string) (*types.Package, error) {
	if mapped := i.mapped[path]; mapped != "" {
		path = mapped
	}
	if pkg := i.packages[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("%s is imported, and was not checked before", path)
}
