package clock

// Synchronised is a Clock that knows whether something keeps it right.
type Synchronised interface {
	Clock

	// Synced reports whether the wall clock is kept right by another clock, as far as the system
	// tells. A clock that was set by hand is not, until it has been compared again. Where the
	// system does not tell, the answer is no.
	Synced() bool
}

var _ Synchronised = system{}

// Synced asks the kernel.
func (system) Synced() bool { return synced() }
