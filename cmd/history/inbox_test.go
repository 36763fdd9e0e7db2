package history

import (
	"go/ast"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/view"
)

// TestInboxTypesAreInDocs requires that each type of item has its line in docs/inbox.md, and is in
// the schema of the answer.
func TestInboxTypesAreInDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/inbox.md")
	if err != nil {
		t.Fatal(err)
	}
	field, _ := reflect.TypeFor[view.ItemJSON]().FieldByName("Type")
	seen := 0
	for _, file := range clitest.Sources(t, "../../state/mail.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			row, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(row.Names[0].Name, "Item") || len(row.Values) != 1 {
				return true
			}
			seen++
			name := strings.Trim(clitest.Word(row.Values[0]), `"`)
			if !strings.Contains(string(page), "\n| `"+name+"` | ") {
				t.Errorf("docs/inbox.md does not say what an item of type %s is", name)
			}
			if !slices.Contains(strings.Fields(field.Tag.Get("enum")), name) {
				t.Errorf("the schema of inbox does not have the type %s", name)
			}
			return true
		})
	}
	if seen < 6 {
		t.Errorf("found only %d types of items", seen)
	}
}
