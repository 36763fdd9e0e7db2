package proc

// Suspended reports whether the process is alive and stopped, by SIGSTOP or a debugger, so that it
// does nothing until somebody resumes it.
func (id Identity) Suspended() bool {
	if id.PID <= 0 || !id.Here() {
		return false
	}
	s, err := readStat(id.PID)
	return err == nil && s.start == id.Start && (s.state == 'T' || s.state == 't')
}
