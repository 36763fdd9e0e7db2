package doctor

import "github.com/ouro-timer/ouro-timer/state"

// The reasons of findings. Each is of one kind of thing that is wrong; what it is about, the
// subject of the finding says.
const (
	// LookFailed is a check that came to no end.
	LookFailed state.Reason = "failed"
	// Unreadable, Damaged are what cannot be read, or not understood.
	Unreadable state.Reason = "unreadable"
	Damaged    state.Reason = "damaged"

	// Of a task: its zone, its words or its files of days cannot be read, or its kind, its wall
	// clock or its due instant say something else than they do.
	BadZone  state.Reason = "zone"
	BadWords state.Reason = "words"
	BadDays  state.Reason = "days"
	BadKind  state.Reason = "kind"
	BadWall  state.Reason = "wall"
	BadDue   state.Reason = "due"
	// What it takes to start it: its folder, a program, what its --if begins with, the patterns of
	// [run] allow; or a file system does not answer.
	NoDir      state.Reason = "dir"
	NoProgram  state.Reason = "program"
	NoGate     state.Reason = "gate"
	NotAllowed state.Reason = "not_allowed"
	Silent     state.Reason = "silent"
	// It is past due and nobody took it, or there is no room for it, or its start is put off.
	Overdue   state.Reason = "overdue"
	NoRoom    state.Reason = "no_room"
	Postponed state.Reason = "put_off"

	// Of a run without a runner: it was claimed, was interrupted, or rests before a further
	// attempt; or an agent process goes on without one.
	Claimed     state.Reason = "claimed"
	Interrupted state.Reason = "interrupted"
	Resting     state.Reason = "retry"
	LeftAgent   state.Reason = "agent"
	// Elsewhere is what goes on in another container, where nobody here can look.
	Elsewhere state.Reason = "elsewhere"

	// Of the runner: there is none, or it has not said who it is, is gone and something keeps its
	// lock, is stopped, is of another version, had trouble, ended without a word, or would not come
	// back.
	NoRunner     state.Reason = "none"
	Unnamed      state.Reason = "unnamed"
	LockKept     state.Reason = "gone"
	Stopped      state.Reason = "stopped"
	OtherVersion state.Reason = "version"
	Trouble      state.Reason = "trouble"
	Died         state.Reason = "died"
	NoReboot     state.Reason = "reboot"

	// Of the mail: it waits to be told, could not be, or its channel could tell nobody.
	Waiting     state.Reason = "waiting"
	Undelivered state.Reason = "undelivered"
	NotReady    state.Reason = "not_ready"

	// Of the clock: it shows what is long past, or less than it has shown.
	ClockPast state.Reason = "past"
	ClockBack state.Reason = "back"

	// Of settings: one of config.toml is wrong, or keeps another from being known; a name that
	// nothing knows, and a value that cannot be.
	BadSetting state.Reason = "setting"
	BadConfig  state.Reason = "config"
	Unknown    state.Reason = "unknown"
	BadValue   state.Reason = "value"
)
