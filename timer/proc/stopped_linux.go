package proc

// Stopped reports whether the process is held by SIGSTOP or a debugger: alive, and doing nothing.
func (id Identity) Stopped() bool {
	s, err := readStat(id.PID)
	return err == nil && id.Alive() && (s.state == 'T' || s.state == 't')
}
