package guide

// ForeignCommands has the names of commands in other schedulers and agent tools, with what to type
// instead, without the name of the program. Names are in lower case, with - for _. None is the name
// of a command here.
func ForeignCommands() map[string]string {
	return map[string]string{
		"sleep": "wait 30s", "timer": timerCall, "delay": "wait 30s",
		"timertool": timerCall, "timer-tool": timerCall,
		"sleep-until": "wait --until 22:00", "wait-until": "wait --until 22:00",

		"add": atCall, "create": atCall, "new": atCall, "schedule": atCall, "schedule-call": "at --interval 5m -- COMMAND",
		"schedule-task":       atCall,
		"schedule-agent-task": agentTaskCall, "scheduleagenttask": agentTaskCall, "systemd-run": atCall, "batch": nowCall,
		"nohup": nowCall, "pueue": nowCall, "once": atCall, "in": atCall,
		"remind": remindCall, "reminder": remindCall, "remindme": remindCall, "remind-me": remindCall,
		"schedule-message": remindCall, "send-delayed-message": remindCall, "send-scheduled-message": remindCall,
		"prompty": promptyCall, "reminders.create": promptyCall, "reminders": promptyCall + " (and ouro-timer ls)",
		"set-reminder": remindCall, "create-reminder": remindCall, "add-reminder": remindCall,
		"crontab":     cronCall + " (and ouro-timer ls, ouro-timer rm ID, ouro-timer import crontab --user)",
		"supercronic": "run (and ouro-timer import crontab FILE --write)",
		"cron":        cronCall, "anacron": cronCall, "fcron": cronCall,
		"manage-cron": cronCall + " (and ouro-timer ls, ouro-timer rm ID)",
		"every":       cronCall, "interval": "at --every 5m -- COMMAND", "repeat": cronCall, "recurring": cronCall,

		"list": "ls", "atq": "ls", "queue": "ls", "jobs": "ls", "tasks": "ls", "pending": "ls",
		"timers": "ls", "list-timers": "ls", "systemctl": "ls", "list-calls": "ls",
		"list-tasks": "ls", "list-jobs": "ls", "list-reminders": "ls", "list-scheduled-tasks": "ls",
		"list-scheduled-messages": "ls", "status": "ls",
		"info": "show ID", "get": "show ID", "describe": "show ID", "get-task": "show ID",
		"history": "log", "logs": "log", "journal": "log", "runs": "log",

		"atrm": "rm ID", "remove": "rm ID", "delete": "rm ID", "del": "rm ID", "cancel": "rm ID",
		"unschedule": "rm ID", "cancel-call": "rm ID", "cancel-task": "rm ID",
		"cancel-job": "rm ID", "cancel-message": "rm ID", "cancel-scheduled-message": "rm ID", "cancel-reminder": "rm ID", "delete-task": "rm ID",
		"remove-task": "rm ID", "delete-reminder": "rm ID",
		"undo": "restore ID", "undelete": "restore ID",
		"update": editCall, "modify": editCall, "change": editCall, "reschedule": editCall, "postpone": editCall,
		"snooze": editCall, "update-task": editCall,
		"toggle": pauseCall, "disable": pauseCall, "suspend": pauseCall, "hold": pauseCall,
		"deactivate": pauseCall, "toggle-task": pauseCall,
		"enable": "resume ID", "unpause": "resume ID", "activate": "resume ID", "continue": "resume ID",
		"trigger": "fire ID", "run-now": "fire ID", "kill": "stop ID", "abort": "stop ID",

		"wait-for-health": healthCall, "wait4x": healthCall, "wait-for": healthCall, "wait-for-it": healthCall,
		"wait-on":   healthCall,
		"dockerize": healthCall, "health": healthCall, "healthcheck": healthCall, "health-check": healthCall,
		"send": notifyCall, "mail": notifyCall, "email": notifyCall, "send-email": notifyCall,
		"notifytool": notifyCall, "notify-tool": notifyCall,
		"message": notifyCall, "notify-send": notifyCall, "send-notification": notifyCall,
		"messages": "inbox", "notifications": "inbox", "results": "inbox",
		"start": "run --background", "daemon": "run --background", "serve": "run --background",
		"runner": "run --background", "scheduler": "run --background",
		"atd": "run --background", "crond": "run --background", "install": "service install",
		"parse": whenCall, "explain": whenCall, "explain-time": whenCall, "next": whenCall, "check": "doctor",
		"config": "doctor",
	}
}

// These are the calls that several names lead to.
const (
	timerCall = `wait 30s "check the oven"`
	atCall    = "at tomorrow 10am -- COMMAND"
	nowCall   = "at now -- COMMAND"
	// its users schedule texts, by objects or in words
	agentTaskCall = `at "tomorrow at 10am" --task "Tell me the weather" (and its objects by ouro-timer at --stdin json)`
	promptyCall   = `at 30s --agent ./agent.py --title "Ping agent"`
	remindCall    = `at in 20 minutes --task "call Bob"`
	cronCall      = "at '0 9 * * 1-5' -- COMMAND"
	editCall      = "edit ID +30m"
	pauseCall     = "pause ID (and ouro-timer resume ID)"
	healthCall    = "health-wait http://localhost:8080/health --timeout 120s"
	notifyCall    = `notify --to bob@example.org --subject "Daily digest" "Nothing new."`
	whenCall      = "when next friday at noon"
)
