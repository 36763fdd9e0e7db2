//go:build !linux

package natstest

func (s *Servers) mount(string) {}
func (s *Servers) unmount()     {}
