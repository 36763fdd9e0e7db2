package codec_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/settings"
)

// TestOneDoorForTOML finds every call of the library that reads: there is one, and it looks at the bounds first.
func TestOneDoorForTOML(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(err)
	}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") || source == "bounds.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := call.X.(*ast.Ident); ok && of.Name == "toml" && (strings.HasPrefix(call.Sel.Name, "Decode") ||
					strings.HasPrefix(call.Sel.Name, "Unmarshal") || call.Sel.Name == "NewDecoder") {
					t.Errorf("%s: toml.%s; decodeTOML looks at the bounds first", source, call.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestHeavyTOMLIsRefused reads small files that took gigabytes, wherever TOML is read: it is said what is too much, and where, and little
// memory was asked for.
func TestHeavyTOMLIsRefused(t *testing.T) {
	const n, most = 10_000, 64 << 20
	for what, text := range codec.Heavy(n) {
		file := "format = 1\n" + text + "# end\n"
		if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
			file = "\ufeffformat = 1\n" + rest + "# end\n"
		}
		if len(file) > state.TaskLimit {
			t.Fatalf("%s: the file is not small", what)
		}
		readers := map[string]func() error{
			"a task":  func() error { _, _, err := codec.DecodeTask([]byte(file)); return err },
			"a tally": func() error { var v state.Tally; return codec.Decode([]byte(file), &v) },
			"config.toml": func() error {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				_, err := settings.Load(dir)
				return err
			},
		}
		for who, read := range readers {
			var err error
			if got := codec.Allocated(func() { err = read() }); got > most {
				t.Errorf("%s, %s: asked for %d MiB", what, who, got>>20)
			}
			var config *settings.Problem
			if err == nil || !errors.Is(err, codec.ErrBroken) && !errors.As(err, &config) || !strings.Contains(err.Error(), "line ") {
				t.Errorf("%s, %s: %v", what, who, err)
			} else if len(err.Error()) > 1000 {
				t.Errorf("%s, %s: an error of %d bytes", what, who, len(err.Error()))
			}
		}
	}
}
