// Package man holds the manual pages of the program. TestManual in cmd writes them, from the same
// table as the help and from the pages of docs that describe times, the configuration and the
// state.
package man

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.1 *.5 *.7
var pages embed.FS

// Page returns the page of a name, in roff, as man(1) takes it with -l -: "at" is ouro-timer-at(1),
// "" is ouro-timer(1), and "time", "config" and "state" are ouro-timer-time(7),
// ouro-timer-config(5) and ouro-timer-state(5). It reports whether there is one.
func Page(name string) ([]byte, bool) {
	names, err := fs.Glob(pages, file(name)+".[157]")
	if err != nil || len(names) != 1 {
		return nil, false
	}
	page, err := pages.ReadFile(names[0])
	return page, err == nil
}

// Names are the names of all pages but that of the program, in alphabetical order.
func Names() []string {
	files, _ := fs.Glob(pages, file("*")+".[157]")
	for i, name := range files {
		files[i] = strings.TrimPrefix(strings.TrimSuffix(name, path.Ext(name)), file("")+"-")
	}
	slices.Sort(files)
	return files
}

func file(name string) string {
	if name == "" {
		return "ouro-timer"
	}
	return "ouro-timer-" + name
}
