package jet_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestRoles: servers that permit what a role has let each do what it is for, and refuse the rest at once.
func TestRoles(t *testing.T) {
	dir := t.TempDir()
	keys := map[jet.Role]string{}
	login := func(name string) (file, public string) {
		file = filepath.Join(dir, name)
		l, err := nats.NewLogin(file)
		if err != nil {
			t.Fatal(err)
		}
		return file, l.Public()
	}
	admin, public := login("admin")
	users := []string{fmt.Sprintf("{ nkey: %q }", public)}
	for _, r := range jet.Roles {
		keys[r], public = login(string(r))
		publish, subscribe := jet.Permissions("roles", r)
		users = append(users, fmt.Sprintf("{ nkey: %q, permissions: { publish: [%q], subscribe: [%q] } }", public, strings.Join(publish, `", "`), strings.Join(subscribe, `", "`)))
	}
	text := strings.ReplaceAll(strings.Join(users, ", "), `\"`, `"`)
	servers := natstest.Start(t, 1, "authorization { users: [ "+text+" ] }")
	connect := func(key string) *jet.KV {
		t.Helper()
		k, err := jet.Open(t.Context(), jet.Options{URL: servers.URL() + "/roles", NKey: key})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.Close)
		return k
	}
	if err := connect(keys[jet.Runner]).Init(t.Context(), 1); !errors.Is(err, fleet.ErrDenied) {
		t.Errorf("a runner makes streams: %v", err)
	}
	if err := connect(admin).Init(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	due := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	task := state.Task{Created: due, Text: "tea", Key: "k", When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: due}}
	var id string
	for _, r := range []jet.Role{jet.Runner, jet.Submitter, jet.Observer} {
		t.Run(string(r), func(t *testing.T) {
			s, may := fleet.New(connect(keys[r]), fleet.Options{Local: memory.New(), Node: state.Node{Name: string(r)}}), map[bool]error{true: nil, false: fleet.ErrDenied}
			is := func(what string, err, want error) {
				t.Helper()
				if !errors.Is(err, want) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if r == jet.Runner {
				kept, err := s.Add(t.Context(), task, due)
				is("add", err, nil)
				id = kept.Task.ID
			}
			other := task
			other.Key = ""
			e, err := s.Add(t.Context(), other, due)
			is("add", err, may[r != jet.Observer])
			_, err = s.Add(t.Context(), task, due)
			is("add with a key that is taken", err, map[bool]error{true: state.ErrKept, false: fleet.ErrDenied}[r != jet.Observer])
			_, err = s.Pause(t.Context(), id, time.Time{}, due)
			is("pause", err, may[r != jet.Observer])
			if r != jet.Observer {
				_, err = s.Resume(t.Context(), id, due)
				is("resume", err, nil)
				_, err = s.Remove(t.Context(), e.Task.ID, due)
				is("remove", err, nil)
			}
			_, err = s.Lead(t.Context(), state.Leader{Ident: state.Ident{PID: 1}})
			is("lead", err, may[r == jet.Runner])
			is("drain", s.Drain(t.Context(), string(r), true), may[r == jet.Runner])
			_, err = s.Prune(t.Context(), state.Keep{Ended: time.Hour}, due.Add(1000*time.Hour))
			is("prune", err, may[r == jet.Runner])
			_, err = s.Find(t.Context(), id)
			is("find", err, nil)
			_, _, err = s.Log(t.Context(), "", func(state.Line) bool { return true })
			is("log", err, nil)
			_, err = s.Follow(t.Context())
			is("follow", err, nil)
			_, err = s.WatchLog(t.Context(), "")
			is("watch", err, nil)
		})
	}
}
