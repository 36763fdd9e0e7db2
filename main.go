// Ouro-timer waits, schedules, runs and remembers: one program for what sleep, at, cron,
// systemd-run and wait4x do apart.
package main

import (
	"os"

	"github.com/ouro-timer/ouro-timer/cmd"
	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

func main() { os.Exit(proc.AsInit(func() int { return cmd.Main(os.Args, cli.Real()) })) }
