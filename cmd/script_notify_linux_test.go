package cmd

import (
	"github.com/godbus/dbus/v5" // the other end of a session bus
)

// desktop is a daemon of the Desktop Notifications Specification on the session bus. With hang it answers nothing.
func desktop(book *logbook, ready func() error, hang bool) error {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return err
	}
	d := &desktopDaemon{book, hang}
	if err := conn.Export(d, "/org/freedesktop/Notifications", "org.freedesktop.Notifications"); err != nil {
		return err
	}
	if _, err := conn.RequestName("org.freedesktop.Notifications", dbus.NameFlagDoNotQueue); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	<-conn.Context().Done() // the bus has ended
	return nil
}

type desktopDaemon struct {
	book *logbook
	hang bool
}

// Notify is the method of that name.
func (d *desktopDaemon) Notify(app string, _ uint32, _, summary, body string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	d.book.show(desktopNote{app, summary, body})
	if d.hang {
		select {}
	}
	return 1, nil
}
