package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks requires that what the pages link to is there, headings included, and that the list of the pages has each of them.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../SECURITY.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(page); filepath.Base(filepath.Dir(page)) == "docs" && name != "README.md" && !strings.Contains(string(list), "("+name+")") {
			t.Errorf("docs/README.md does not have %s", name)
		}
		for _, m := range link.FindAllStringSubmatch(withoutCode(string(text)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path := page
			if m[1] != "" {
				path = filepath.Join(filepath.Dir(page), m[1])
			}
			to, err := os.ReadFile(path)
			if info, dir := os.Stat(path); err != nil && (dir != nil || !info.IsDir()) {
				t.Errorf("%s links to %s: %v", page, m[1], err)
				continue
			}
			if m[2] != "" && !anchors(string(to))[m[2]] {
				t.Errorf("%s links to %s, which has no heading %s", page, path, m[2])
			}
		}
	}
}

// withoutCode is a page without its blocks and pieces of code, where brackets are no links.
func withoutCode(text string) string {
	text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "")
}

// anchors are the headings of a page as links name them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			head = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(head)), "")
			all["#"+strings.ReplaceAll(head, " ", "-")] = true
		}
	}
	return all
}

// TestReadmeIsForNewcomers requires that README.md is short, and has its parts in the order in which a newcomer wants them.
func TestReadmeIsForNewcomers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 150 {
		t.Errorf("README.md has %d lines", n)
	}
	at := 0
	for _, part := range []string{"# ouro-timer\n\nOne program ", "\n![", "\n## Install\n", "\n## Five minutes\n", "\n## Why not …\n", "\n## Two commands\n", "\n## Read on\n"} {
		found := strings.Index(string(text)[at:], part)
		if found < 0 {
			t.Errorf("README.md does not have %q behind what stands before it", part)
			continue
		}
		at += found
	}
	for _, word := range []string{"runner", "inbox"} {
		if explained := strings.Index(string(text), "**"+word+"**"); explained < 0 || strings.Index(string(text), word) < explained {
			t.Errorf("README.md says %q before it explains it", word)
		}
	}
}
