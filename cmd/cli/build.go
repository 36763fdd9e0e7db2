package cli

// These describe the build of a release; its linker sets all three from the tag. Without it Version
// is the release that this source belongs to, or the next one.
var (
	Version  = "0.2.0"
	Revision = "" // the commit
	Date     = "" // the date of the commit, in RFC 3339
)
