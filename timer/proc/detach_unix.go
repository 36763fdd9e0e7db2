//go:build unix

package proc

import "syscall"

const detachDir = "/"

func detachAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
