package proc

// must is for what cannot go wrong in a test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
