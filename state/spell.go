package state

import "github.com/ouro-timer/ouro-timer/state/plain"

// The text of a task can be a megabyte, and the task may run each second. So a ledger has the text
// once: in the line of the task's making and in that of each edit that changes it. Other lines name
// the task and its revision, and their text is put back when they are read.

// Said is the text of a task that each line about its runs has: a message, or the title for an
// agent. It is empty for a command.
func (t Task) Said() string {
	switch {
	case t.Told():
		return t.Message()
	case t.Type() == TypeAgent && t.Reminder.Title != "":
		return t.Reminder.Title
	case t.Type() == TypeAgent:
		return t.Summary()
	}
	return ""
}

// Said is the text of its task that a line about a run has, as Task.Said. It is empty if the line
// has none.
func (l Line) Said() string {
	if !l.tells() {
		return ""
	}
	return l.Text
}

// Lean returns the line without the text of its task. A line without a revision keeps its text.
func (l Line) Lean(said string) Line {
	if said == "" || l.Revision <= 0 {
		return l
	}
	if l.Description == brief(said) {
		l.Description = ""
	}
	if l.Text == said && l.tells() {
		l.Text = ""
	}
	return l
}

// Kept is a new line as a ledger keeps it: without the text of its task, which the ledger has
// elsewhere.
func (l Line) Kept() Line { return l.Lean(l.said) }

// tells reports whether the line is about a run and its Text is its task's.
func (l Line) tells() bool {
	return (l.Type == LineOccurrence || l.Type == LineManual) && l.Outcome == OK && l.ExitCode == nil && l.Signal == ""
}

// Says returns the text of a task from the line of its making, or of an edit that changes the text.
func (l Line) Says() (said string, ok bool) {
	if l.Type != LineTask || l.Event != EventCreated && l.Event != EventEdited {
		return "", false
	}
	// Older versions only kept the beginning of the text, as the description.
	if said = l.Text; said == "" && (l.Event == EventCreated || l.Given == nil) {
		said = l.Description
	}
	return said, said != ""
}

// Lacks reports whether the text of the line's task has to be put back into it.
func (l Line) Lacks() bool {
	return l.Revision > 0 && (l.Description == "" || l.tells() && l.Text == "")
}

// Spell returns the line with the text of its task.
func (l Line) Spell(said string) Line {
	if l.Description == "" {
		l.Description = brief(said)
	}
	if l.Text == "" && l.tells() {
		l.Text = said
	}
	return l
}

// Texts are the texts that lines of the ledger lack, by task and revision. A nil text is not found
// yet.
type Texts map[string]map[int64]*string

// Lacking returns the texts that lines lack, none of them found.
func Lacking(lines ...Line) Texts {
	t := Texts{}
	for _, l := range lines {
		if !l.Lacks() {
			continue
		}
		if t[l.TaskID] == nil {
			t[l.TaskID] = map[int64]*string{}
		}
		t[l.TaskID][l.Revision] = nil
	}
	return t
}

// Found takes the text from a task.
func (t Texts) Found(task Task) {
	if _, wanted := t[task.ID][task.Revision]; wanted {
		t[task.ID][task.Revision] = new(task.Said())
	}
}

// Read takes the text of a task from a line. The text holds for the line's revision, and for later
// revisions without a known text. So lines are read newest first.
func (t Texts) Read(l Line) {
	said, ok := l.Says()
	if !ok {
		return
	}
	for revision, known := range t[l.TaskID] {
		if known == nil && revision >= l.Revision {
			t[l.TaskID][revision] = &said
		}
	}
}

// Open reports whether one of a task's texts is not found yet.
func (t Texts) Open(id string) bool {
	for _, said := range t[id] {
		if said == nil {
			return true
		}
	}
	return false
}

// Spell returns the line with the text of its task, if that is found.
func (t Texts) Spell(l Line) Line {
	if said := t[l.TaskID][l.Revision]; said != nil && l.Lacks() {
		return l.Spell(*said)
	}
	return l
}

// brief is a text as lists show it, cut if it is long.
func brief(text string) string {
	return plain.Cut(text, 200)
}
