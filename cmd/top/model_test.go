package top

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

var update = flag.Bool("update", false, "write what is drawn as what is to be drawn")

// noon is the present of these tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// recorder notes what keys ask for, and does nothing.
type recorder struct{ asked []string }

func (r *recorder) note(words ...string) tea.Msg {
	r.asked = append(r.asked, strings.Join(words, " "))
	return nil
}

func (r *recorder) load(filter string) tea.Msg    { return r.note("load", filter) }
func (r *recorder) readDetail(of subject) tea.Msg { return r.note("detail", of.key) }
func (r *recorder) awaitOutput(id string) tea.Msg { return r.note("output", id) }
func (r *recorder) interpret(t typed) tea.Msg     { return r.note("interpret", t.task.Task.ID, t.line) }
func (r *recorder) submit(t typed) tea.Msg        { return r.note("submit", t.task.Task.ID, t.line) }
func (r *recorder) pause(e state.Entry) tea.Msg {
	return r.note("pause", e.Task.ID)
}
func (r *recorder) fire(e state.Entry) tea.Msg { return r.note("fire", e.Task.ID) }
func (r *recorder) stop(e state.Entry, kill bool) tea.Msg {
	if kill {
		return r.note("kill", e.Task.ID)
	}
	return r.note("stop", e.Task.ID)
}
func (r *recorder) remove(e state.Entry) tea.Msg { return r.note("remove", e.Task.ID) }
func (r *recorder) restore() tea.Msg             { return r.note("restore") }
func (r *recorder) acknowledge(ids []string) tea.Msg {
	return r.note("acknowledge", strings.Join(ids, " "))
}

// entry is a task for these tests.
func entry(id, text, rhythm string, due time.Duration) state.Entry {
	kind := "once"
	if strings.HasPrefix(rhythm, "every") {
		kind = "interval"
	}
	t := state.Task{ID: id, Text: text, When: state.Timing{Kind: kind, Text: rhythm, Zone: "UTC"}}
	return state.Entry{Task: t, Due: noon.Add(due), Phase: state.Pending}
}

// busy is a snapshot of a store that has something of everything.
func busy() snapshot {
	bob := entry("k7m2", "call Bob", "in 20 minutes", 20*time.Minute)
	wide := entry("x3p9", "日本語のテスト 👩‍👩‍👧 family", "tomorrow 9am", 21*time.Hour)
	held := entry("p4q8", "water the plants", "tomorrow 9am", 45*time.Hour)
	held.Held, held.Phase = true, state.Paused
	late := entry("w5r6", "send the report", "in 10 minutes", -time.Hour)
	news := entry("n2b4", "", "every 2h", 90*time.Minute)
	news.Task.Run = state.Job{Shell: "fetch-news | mail -s news me", Dir: "/home/me"}
	run := state.Record{Task: news.Task, Due: noon.Add(-30 * time.Minute), Number: 3, Claimed: noon.Add(-75 * time.Second), Started: noon.Add(-75 * time.Second)}
	one, due := 1, noon.Add(-2*time.Hour)
	failed := state.Line{Type: state.LineOccurrence, TaskID: "n2b4", Number: 2, At: noon.Add(-150 * time.Minute), Due: &due, Count: 1, Outcome: state.Failed, ExitCode: &one, Inbox: state.ItemFailure, Description: "fetch-news | mail -s news me"}
	told := state.Line{Type: state.LineOccurrence, TaskID: "b8c3", Number: 1, At: noon.Add(-26 * time.Hour), Due: &due, Count: 1, Outcome: state.OK, Inbox: state.ItemMessage, Description: "stand up", Text: "stand up"}
	made := state.Line{Type: state.LineTask, TaskID: "k7m2", At: noon.Add(-time.Minute), Event: state.EventCreated, When: "in 20 minutes", Description: "call Bob"}
	return snapshot{
		at: noon, due: []state.Entry{late, bob, news, wide, held}, running: []openRun{{run, news}},
		items:  []state.Item{{ID: "n2b4/2", Line: failed}, {ID: "b8c3/1", Line: told}},
		unread: 2, log: []state.Line{made, failed, told}, runner: "runner alive",
		slots: map[string][]int{"k7m2": {4}, "n2b4": {18, 42, 66, 90, 114, 138, 162, 186, 210, 234, 258, 282}, "x3p9": {252}, "w5r6": {0}},
	}
}

// showing is a model of so many columns and rows that has seen something.
func showing(t *testing.T, r *recorder, width, height int, l looks, n snapshot) model {
	t.Helper()
	var m tea.Model = newModel(r, time.UTC, noon, l)
	m, _ = m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m, cmd := m.Update(loaded{snapshot: n})
	play(t, &m, cmd)
	return m.(model)
}

// play runs commands, but for those of the clock, and has the model take in what they say.
func play(t *testing.T, m *tea.Model, cmd tea.Cmd) {
	t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, one := range msg {
			play(t, m, one)
		}
	case nil, tea.QuitMsg:
	default:
		next, cmd := (*m).Update(msg)
		*m = next
		play(t, m, cmd)
	}
}

// key is a key by the name that the library gives it.
func key(name string) tea.KeyPressMsg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete}
	switch {
	case codes[name] != 0:
		return tea.KeyPressMsg{Code: codes[name]}
	case name == "shift+tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	case strings.HasPrefix(name, "ctrl+"):
		return tea.KeyPressMsg{Code: rune(name[5]), Mod: tea.ModCtrl}
	case name == "space":
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	return tea.KeyPressMsg{Code: []rune(strings.ToLower(name))[0], Text: name}
}

// press is the model after keys, which stand in a row of words; one that begins with = is typed
// letter by letter.
func press(t *testing.T, m model, keys ...string) (model, bool) {
	t.Helper()
	var now tea.Model = m
	quit := false
	for _, name := range keys {
		letters := []string{name}
		if text, ok := strings.CutPrefix(name, "="); ok {
			letters = strings.Split(text, "")
		}
		for _, one := range letters {
			if one == " " {
				one = "space"
			}
			next, cmd := now.Update(key(one))
			now = next
			if cmd != nil && strings.HasSuffix(name, "q") || name == "ctrl+c" {
				if cmd != nil {
					if _, quits := cmd().(tea.QuitMsg); quits {
						quit = true
						continue
					}
				}
			}
			play(t, &now, cmd)
		}
	}
	return now.(model), quit
}

// TestKeys: what each key asks for, in a view that has something of everything.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys string
		asks string // the last thing that was asked for, but for looks and details
		says string // what stands in the line at the bottom
	}{
		{"down p", "pause k7m2", ""},
		{"j p", "pause k7m2", ""},
		{"down d", "remove k7m2", ""},
		{"down delete", "remove k7m2", ""},
		{"down down up f", "fire k7m2", "running k7m2 …"},
		{"u", "restore", "restoring …"},
		{"s", "", "no running task is selected"},
		{"2 s", "stop n2b4", "ending n2b4 …"},
		{"2 K", "kill n2b4", "ending n2b4 …"},
		{"2 p", "pause n2b4", ""},
		{"3 c", "acknowledge n2b4/2", ""},
		{"3 down c", "acknowledge b8c3/1", ""},
		{"3 C", "acknowledge n2b4/2 b8c3/1", "acknowledging …"},
		{"c", "", "no item of the inbox is selected; 3 goes to the inbox"},
		{"C", "", "no items are listed here; 3 goes to the inbox"},
		{"3 down p", "", "no task that can still be due is selected"},
		{"3 p", "pause n2b4", ""},
		{"4 d", "remove k7m2", ""},
		{"tab tab c", "acknowledge n2b4/2", ""},
		{"shift+tab shift+tab c", "acknowledge n2b4/2", ""},
		{"G d", "remove p4q8", ""},
		{"end g d", "remove w5r6", ""},
		{"pgdown d", "remove p4q8", ""},
		{"down a =1h enter", "submit  1h", ""},
		{"a =in space =5m", "interpret  in 5m", ""},
		{"a =1hx backspace enter", "submit  1h", ""},
		{"a =5m home =1 end =s enter", "submit  15ms", ""},
		{"a =1h esc d", "remove w5r6", ""},
		{"a enter d", "remove w5r6", ""},
		{"down e =+1h enter", "submit k7m2 +1h", ""},
		{"/ =bob enter d", "remove k7m2", ""},
		{"/ =BOB enter d", "remove k7m2", ""},
		{"/ =bob esc d", "remove k7m2", ""},
		{"/ =nobody enter d", "", "no task that can still be due is selected"},
		{"? d", "", ""},
		{"? ? d d", "remove w5r6", ""},
	} {
		r := &recorder{}
		m, _ := press(t, showing(t, r, 80, 24, looks{}, busy()), strings.Fields(c.keys)...)
		asked := slices.DeleteFunc(slices.Clone(r.asked), func(a string) bool {
			return strings.HasPrefix(a, "load") || strings.HasPrefix(a, "detail") || strings.HasPrefix(a, "output")
		})
		last := ""
		if len(asked) > 0 {
			last = asked[len(asked)-1]
		}
		if last != c.asks || m.status.text != c.says {
			t.Errorf("%s: asks %q and says %q; want %q, %q", c.keys, last, m.status.text, c.asks, c.says)
		}
	}
}

// TestBindings: no key has two meanings, and every one has a place in docs/top.md.
func TestBindings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/top.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, b := range bindings() {
		for _, k := range b.keys {
			if seen[k] {
				t.Errorf("%s means two things", k)
			}
			seen[k] = true
			if !strings.Contains(string(page), "`"+k+"`") {
				t.Errorf("docs/top.md does not have the key %s", k)
			}
		}
		if ansi.StringWidth(b.help) > 20 || len(b.shown) > 8 || (b.help == "") != (b.shown == "") {
			t.Errorf("%v is shown as %q, %q", b.keys, b.shown, b.help)
		}
	}
}

// TestQuit: what was fired here is not ended by one key.
func TestQuit(t *testing.T) {
	t.Parallel()
	m := showing(t, &recorder{}, 80, 24, looks{}, busy())
	if _, quit := press(t, m, "q"); !quit {
		t.Error("q does not quit")
	}
	if _, quit := press(t, m, "ctrl+c"); !quit {
		t.Error("ctrl+c does not quit")
	}
	m, quit := press(t, m, "f", "q")
	if quit || !strings.Contains(m.status.text, "q again") {
		t.Errorf("while a run goes on q quits: %v, %q", quit, m.status.text)
	}
	if _, quit := press(t, m, "q"); !quit {
		t.Error("the second q does not quit")
	}
	for _, other := range []string{"down", "2"} {
		if _, quit := press(t, m, other, "q"); quit {
			t.Error("a q after " + other + " quits")
		}
	}
	over, _ := m.Update(status{text: "k7m2/1 ok", firingChange: -1})
	if _, quit := press(t, over.(model), "q"); !quit {
		t.Error("once the run is over q does not quit")
	}
}

// TestSelection stays on its row, whatever comes and goes around it.
func TestSelection(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	m, _ := press(t, showing(t, r, 80, 24, looks{}, busy()), "down")
	n := busy()
	n.due = slices.Insert(n.due, 0, entry("aaaa", "first", "in 1 minute", time.Minute))
	next, _ := m.Update(loaded{snapshot: n})
	if got := next.(model).selectedKey[duePane]; got != "k7m2" {
		t.Errorf("with a row before it %s is selected", got)
	}
	n.due = slices.DeleteFunc(slices.Clone(n.due), func(e state.Entry) bool { return e.Task.ID == "k7m2" })
	next, _ = next.Update(loaded{snapshot: n})
	if got := next.(model).selectedKey[duePane]; got != "n2b4" {
		t.Errorf("once it is gone %s is selected", got)
	}
	next, _ = next.Update(loaded{snapshot: snapshot{at: noon}})
	if got := next.(model).selectedKey[duePane]; got != "" {
		t.Errorf("of nothing %s is selected", got)
	}
}

// TestLooks: the store is looked at once at a time, and again when something has changed meanwhile.
func TestLooks(t *testing.T) {
	t.Parallel()
	m := tea.Model(showing(t, &recorder{}, 80, 24, looks{}, busy()))
	m, cmd := m.Update(storeChanged{})
	if cmd == nil || !m.(model).loading {
		t.Fatal("a change is not looked at")
	}
	m, cmd = m.Update(storeChanged{})
	if cmd != nil || !m.(model).stale {
		t.Fatal("a second load began beside the first")
	}
	m, cmd = m.Update(loaded{snapshot: busy()})
	if cmd == nil || !m.(model).loading || m.(model).stale {
		t.Error("what changed meanwhile is not looked at")
	}
	m, _ = m.Update(loaded{snapshot: busy()})
	if m.(model).loading {
		t.Error("it is looked at for ever")
	}
	if _, cmd = m.Update(ticked(noon.Add(time.Hour))); cmd == nil {
		t.Error("the clock has stopped")
	}
}

// TestMouse selects rows, tabs and panes, and scrolls.
func TestMouse(t *testing.T) {
	t.Parallel()
	m := showing(t, &recorder{}, 80, 24, looks{}, busy())
	click := func(m model, x, y int) model {
		next, _ := m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		return next.(model)
	}
	if m := click(m, 10, tabsRow+2); m.selectedKey[duePane] != "k7m2" {
		t.Errorf("a click on the second row selects %s", m.selectedKey[duePane])
	}
	if m := click(m, 12, tabsRow); m.active != runningPane {
		t.Errorf("a click on a tab goes to %s", titles[m.active])
	}
	if m := click(m, 10, tabsRow+12); m.selectedKey[duePane] != "w5r6" {
		t.Errorf("a click below all rows selects %s", m.selectedKey[duePane])
	}
	next, _ := m.Update(tea.MouseWheelMsg{X: 10, Y: tabsRow + 2, Button: tea.MouseWheelDown})
	if got := next.(model).selectedKey[duePane]; got != "x3p9" {
		t.Errorf("the wheel goes to %s", got)
	}
	all := showing(t, &recorder{}, 200, 50, looks{}, busy())
	if m := click(all, 150, tabsRow+2); m.active != inboxPane || m.selectedKey[inboxPane] != "b8c3/1" {
		t.Errorf("a click into the inbox goes to %s, %s", titles[m.active], m.selectedKey[inboxPane])
	}
	if m := click(showing(t, &recorder{}, 20, 5, looks{}, busy()), 1, 1); m.active != duePane {
		t.Error("a click where nothing is shown does something")
	}
}

// TestTold: what a person is told on this terminal stands on the view, which is drawn anew.
func TestTold(t *testing.T) {
	t.Parallel()
	n := busy()
	if n.wroteOnTerminal(busy()) {
		t.Error("nothing has come, and somebody was told")
	}
	n.log = slices.Insert(n.log, 0, state.Line{Type: state.LineDelivery, TaskID: "k7m2", Number: 1, At: noon, Delivered: true, Channel: "terminal"})
	if !n.wroteOnTerminal(busy()) {
		t.Error("a delivery goes unseen")
	}
}

// detailed is a model that has been told of what is selected, and what is typed.
func detailed(m model) model {
	if e, ok := m.task(); ok {
		m.details[duePane] = detail{m.selectedKey[duePane], e.Task.ID, taskDetail(e, time.UTC)}
	}
	if m.selectedKey[runningPane] != "" {
		m.details[runningPane] = detail{m.selectedKey[runningPane], m.selectedKey[runningPane], []string{"fetching …", "12 items", "a line that is longer than the window is wide " + strings.Repeat("and goes on ", 20)}}
	}
	if m.mode == adding {
		next, _ := m.Update(interpretation{typed: typed{line: m.input.text}, meaning: "Sat 21 Nov 2026 12:05:00 UTC, in 5 minutes", fault: "nothing to do at that time; a command: ouro-timer at 'in 5m' -- make backup; a message: --task 'call Bob'"})
		return next.(model)
	}
	return m
}

// TestViews draws the same state in windows of several sizes, with and without colour.
func TestViews(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		width, height int
		looks         looks
		keys          string
		seen          snapshot
	}{
		{"60x15", 60, 15, looks{}, "", busy()},
		{"60x15-running", 60, 15, looks{}, "2", busy()},
		{"60x15-adding", 60, 15, looks{}, "a =in space =5m", busy()},
		{"60x15-help", 60, 15, looks{}, "?", busy()},
		{"80x24", 80, 24, looks{}, "down", busy()},
		{"80x24-colour", 80, 24, looks{colour: true}, "down", busy()},
		{"80x24-ascii", 80, 24, looks{ascii: true}, "4", busy()},
		{"80x24-inbox", 80, 24, looks{}, "3", busy()},
		{"80x24-alone", 80, 24, looks{}, "4 enter", busy()},
		{"80x24-filter", 80, 24, looks{}, "/ =bob", busy()},
		{"80x24-empty", 80, 24, looks{}, "", snapshot{at: noon}},
		{"200x50", 200, 50, looks{}, "down", busy()},
		{"200x50-colour", 200, 50, looks{colour: true}, "3", busy()},
		{"40x10", 40, 10, looks{}, "", busy()},
	} {
		m := showing(t, &recorder{}, c.width, c.height, c.looks, c.seen)
		m, _ = press(t, m, strings.Fields(c.keys)...)
		m = detailed(m)
		rows := picture{layout{&m}}.screen()
		for i, row := range rows {
			if w := ansi.StringWidth(row); w != c.width && (layout{&m}).fits() {
				t.Errorf("%s: row %d has %d columns: %q", c.name, i, w, row)
			}
			if !c.looks.colour && strings.Contains(row, "\x1b[3") {
				t.Errorf("%s: there is colour in %q", c.name, row)
			}
		}
		if len(rows) != c.height && (layout{&m}).fits() {
			t.Errorf("%s: %d rows", c.name, len(rows))
		}
		got := strings.Join(rows, "\n") + "\n"
		if !c.looks.colour {
			got = ansi.Strip(got)
		}
		got = strings.ReplaceAll(got, "\x1b", "^[")
		path := filepath.Join("testdata", c.name+".txt")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is drawn as\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// TestEverySize: no size of a window, and no key in it, is too much.
func TestEverySize(t *testing.T) {
	clocktest.Alone(t)
	t.Parallel()
	for _, n := range []snapshot{{at: noon}, busy()} {
		for width := 1; width < 240; width += 7 {
			for height := 1; height < 60; height += 4 {
				m := showing(t, &recorder{}, width, height, looks{colour: true}, n)
				for _, keys := range []string{"", "2", "3", "enter", "4", "?", "esc a =1h", "esc / =x"} {
					m, _ = press(t, m, strings.Fields(keys)...)
					for i, row := range (picture{layout{&m}}).screen() {
						if ansi.StringWidth(row) != width && (layout{&m}).fits() {
							t.Fatalf("%d x %d, %s: row %d has %d columns: %q", width, height, keys, i, ansi.StringWidth(row), row)
						}
					}
					if rows := len((picture{layout{&m}}).screen()); rows != height && (layout{&m}).fits() {
						t.Fatalf("%d x %d, %s: %d rows", width, height, keys, rows)
					}
				}
			}
		}
	}
}

// TestStatusInOrder: of two short actions the one that was begun last is told, whichever ends last; the end of a long one always is.
func TestStatusInOrder(t *testing.T) {
	says := func(text string) func() tea.Msg { return func() tea.Msg { return status{text: text} } }
	resumed, first := model{}.inOrder(says("resumed"))
	removed, second := resumed.(model).inOrder(says("removed"))
	ended, long := removed.(model).beginAction("running k7m2", says("k7m2/1 ok"))
	m := ended
	for _, step := range []struct {
		cmd  tea.Cmd
		want string
	}{{second, "removed"}, {first, "removed"}, {long, "k7m2/1 ok"}, {first, "k7m2/1 ok"}} {
		m, _ = m.Update(step.cmd())
		if got := m.(model).status.text; got != step.want {
			t.Fatalf("the status line says %q, not %q", got, step.want)
		}
	}
}
