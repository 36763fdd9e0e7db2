package audit

// Recent changes how many books are in use before some go on the shelf, until restore is called.
func Recent(n int) (restore func()) {
	was := maxRecent
	maxRecent = n
	return func() { maxRecent = was }
}
