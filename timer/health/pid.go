package health

import "github.com/ouro-timer/ouro-timer/timer/proc"

// process is healthy while it runs.
func (p *prober) process(pid int) error {
	if (proc.Identity{PID: pid}).Alive() {
		return nil
	}
	return &fault{text: "no such process", permanent: true, rank: wrong}
}
