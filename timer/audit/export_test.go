package audit

// Recent changes how many accounts are in use before some are packed, until restore is called.
func Recent(n int) (restore func()) {
	was := maxRecent
	maxRecent = n
	return func() { maxRecent = was }
}
