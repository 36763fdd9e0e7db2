package when

// spokenRecurrences are phrases that must be understood; they also seed the fuzzer.
var spokenRecurrences = []string{
	"every 5m", "every 2 hours", "every 90s", "every 24h", "every half hour", "every hour and a half", "every day",
	"every 2 days", "every day at 18:00", "daily at 9am", "hourly", "weekly on monday at 9am", "every weekday at 9am",
	"weekdays at 9:00", "every weekend", "weekends at 10am", "every monday and thursday at 10:30", "mondays at 9am",
	"every other friday", "every 2 weeks on friday at 17:00", "monthly on the 1st at 08:00",
	"on the last day of every month at 17:00", "every month on the 15th and 30th",
	"the first monday of every month at 9am", "every 3 months", "every year on 24 December at 8am", "every hour at :15",
	"every hour on the half hour", "every day at 9am and 5pm", "every day at 9am and 5:30pm",
	"every 15 minutes between 9am and 5pm", "every 15 minutes between 9:00 and 17:00 on weekdays",
	"every morning at 8", "every night at 11", "every noon", "every december 25 at 9am", "every 15th",
	"last friday of every month at 4pm", "on the first and third monday of every month at 9am",
	"every month on the last weekday at 17:00", "at 9am every day", "9am daily", "every fortnight", "every other day at noon",
	"every second day", "every second", "every year", "every quarter", "every day at 9am UTC",
	"every day at 9am America/New_York", "tuesdays and thursdays at 9pm", "every mon, wed and fri at 7:15am",
	"every monday to friday at 9:00", "on mondays at 9am", "each day at 10pm", "nightly at 2am",
	"everyday at 9:30", "every tuesday through friday at 9am", "mon-fri at 9:30", "from monday to friday at 9:30",
	"biweekly on friday at 17:00", "every 9am", "on day 15 of every month", "once a day at 9am", "once a week on monday at 9am",
	"every hour at :15 on weekdays",
}
