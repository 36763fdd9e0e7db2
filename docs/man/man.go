// Package man has the manual pages of the program. TestManual in cmd writes them from the table of
// commands, which the help comes from too, and from the pages of docs about times, the
// configuration and the state.
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

// Page returns a page in roff, which man -l can show; false when there is none. The name "" is
// ouro-timer(1), "at" is ouro-timer-at(1), and "time", "config" and "state" are ouro-timer-time(7),
// ouro-timer-config(5) and ouro-timer-state(5).
func Page(name string) ([]byte, bool) {
	names, err := fs.Glob(pages, stem(name)+".[157]")
	if err != nil || len(names) != 1 {
		return nil, false
	}
	page, err := pages.ReadFile(names[0])
	return page, err == nil
}

// Names are the names of all pages except that of the program, in alphabetical order.
func Names() []string {
	files, _ := fs.Glob(pages, stem("*")+".[157]")
	for i, name := range files {
		files[i] = strings.TrimPrefix(strings.TrimSuffix(name, path.Ext(name)), stem("")+"-")
	}
	slices.Sort(files)
	return files
}

// stem is the name of the file of a page, without the section.
func stem(name string) string {
	if name == "" {
		return "ouro-timer"
	}
	return "ouro-timer-" + name
}
