package state

import "unicode/utf8"

// The text of a task can be a megabyte, and it may run each second. So a ledger has it once: in the line of the task's making, and in that of
// each edit that changes it. Other lines name the task and its revision; what they say of it is put back when they are read.

// Said is the text of a task that each line about a run of it says: a message, or what an agent is told that it is called. Of a command
// there is none.
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

// Said is the text of its task that a line about a run says, as Task.Said; empty when it says none.
func (l Line) Said() string {
	if !l.tells() {
		return ""
	}
	return l.Text
}

// Lean returns the line without the text of its task. Nothing is taken out of one that does not say of which revision it is.
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

// Kept is a new line as a ledger keeps it: without the text of its task, which the ledger has elsewhere.
func (l Line) Kept() Line { return l.Lean(l.said) }

// tells reports whether the line is of a run whose Text is its task's.
func (l Line) tells() bool {
	return (l.Type == LineOccurrence || l.Type == LineManual) && l.Outcome == OK && l.ExitCode == nil && l.Signal == ""
}

// Says returns the text of a task that the line of its making, or of an edit that changes it, has.
func (l Line) Says() (said string, ok bool) {
	if l.Type != LineTask || l.Event != EventCreated && l.Event != EventEdited {
		return "", false
	}
	if said = l.Text; said == "" && (l.Event == EventCreated || l.Given == nil) { // older versions have its beginning only
		said = l.Description
	}
	return said, said != ""
}

// Lacks reports whether the text of the line's task is to be put back into it.
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

// brief is a text as lists show it, cut where it is long.
func brief(text string) string {
	const most = 200
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
