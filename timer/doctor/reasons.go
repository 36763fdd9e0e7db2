package doctor

import "github.com/ouro-timer/ouro-timer/state"

// The reasons of findings. Each is one kind of problem; the subject of the finding says what has
// it.
const (
	// LookFailed: a check could not be completed.
	LookFailed state.Reason = "failed"
	// Unreadable, Damaged: it cannot be read, or not be understood.
	Unreadable state.Reason = "unreadable"
	Damaged    state.Reason = "damaged"

	// Of a task: its zone, its words or its files of days cannot be read, or its kind, its wall
	// time or its due instant contradict them.
	BadZone  state.Reason = "zone"
	BadWords state.Reason = "words"
	BadDays  state.Reason = "days"
	BadKind  state.Reason = "kind"
	BadWall  state.Reason = "wall"
	BadDue   state.Reason = "due"
	// What a task needs to start: its folder, a program, the first word of its --if, the patterns
	// of [run] allow; or a file system does not answer.
	NoDir      state.Reason = "dir"
	NoProgram  state.Reason = "program"
	NoGate     state.Reason = "gate"
	NotAllowed state.Reason = "not_allowed"
	Silent     state.Reason = "silent"
	// It is overdue and no runner took it, or there is no room for it, or its start is postponed.
	Overdue   state.Reason = "overdue"
	NoRoom    state.Reason = "no_room"
	Postponed state.Reason = "put_off"

	// Of a run without a runner: it was claimed, was interrupted, or waits for another attempt; or
	// the process of an agent goes on alone.
	Claimed     state.Reason = "claimed"
	Interrupted state.Reason = "interrupted"
	Resting     state.Reason = "retry"
	LeftAgent   state.Reason = "agent"
	// Elsewhere: something in another container, which cannot be checked here.
	Elsewhere state.Reason = "elsewhere"

	// Of the runner: there is none, or it has not said who it is, is gone while something keeps its
	// lock, is stopped, has another version, had trouble, ended without a record, or would not come
	// back.
	NoRunner     state.Reason = "none"
	Unnamed      state.Reason = "unnamed"
	LockKept     state.Reason = "gone"
	Stopped      state.Reason = "stopped"
	OtherVersion state.Reason = "version"
	Trouble      state.Reason = "trouble"
	Died         state.Reason = "died"
	NoReboot     state.Reason = "reboot"
	// SameName: the runner of another machine of the fleet has the name of this one.
	SameName state.Reason = "same_name"

	// Of notices: one waits, or failed, or its channel could not work.
	Waiting     state.Reason = "waiting"
	Undelivered state.Reason = "undelivered"
	NotReady    state.Reason = "not_ready"

	// Of the clock: it shows a time long past, or less than it has shown.
	ClockPast state.Reason = "past"
	ClockBack state.Reason = "back"

	// Of settings: one in config.toml is wrong, or hides another; a name that does not exist, or a
	// value that is not allowed.
	BadSetting state.Reason = "setting"
	BadConfig  state.Reason = "config"
	Unknown    state.Reason = "unknown"
	BadValue   state.Reason = "value"
)
