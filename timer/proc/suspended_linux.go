package proc

// Suspended reports whether the process is alive, but was stopped by SIGSTOP or a debugger, and so
// does nothing until it is resumed.
func (id Identity) Suspended() bool {
	if id.PID <= 0 || !id.Here() {
		return false
	}
	s, err := readStat(id.PID)
	return err == nil && s.start == id.Start && (s.state == 'T' || s.state == 't')
}
