package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostMethods bounds the methods that a type of the command line, or of the use cases, has of its own.
const mostMethods = 15

// TestFewMethods: a type with more methods than one can keep in mind is two types.
func TestFewMethods(t *testing.T) {
	methods := map[string][]string{} // by folder and type; the files for other systems are among them
	for _, root := range []string{".", "../timer/tasks"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
					of := filepath.Dir(path) + ": " + receiver(f.Recv.List[0].Type)
					methods[of] = append(methods[of], f.Name.Name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(methods) < 100 {
		t.Fatalf("only %d types have methods: are the folders the right ones?", len(methods))
	}
	for of, names := range methods {
		if len(names) > mostMethods {
			t.Errorf("%s has %d methods, and %d are the most: %s", of, len(names), mostMethods, strings.Join(names, " "))
		}
	}
}

// receiver is the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// mostLines bounds a package of the command line, its tests left out.
const mostLines = 4000

// TestSmallPackages: a package that cannot be read in an afternoon is two packages.
func TestSmallPackages(t *testing.T) {
	lines := map[string]int{}
	for _, root := range []string{".", "../timer/tasks", "../notify"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			lines[filepath.Dir(path)] += strings.Count(string(text), "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines["cli"] == 0 || lines["../notify"] == 0 {
		t.Fatal("the folders are not the right ones")
	}
	for of, n := range lines {
		if n > mostLines {
			t.Errorf("%s has %d lines, and %d are the most", of, n, mostLines)
		}
	}
}
