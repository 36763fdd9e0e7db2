package jet_test

import (
	"context"
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
		publish, subscribe := jet.Permissions("roles", r, "helper")
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
	t.Run("agent", func(t *testing.T) {
		agent, runner := connect(keys[jet.Agent]), connect(keys[jet.Runner])
		port := func(k *jet.KV, name, place string, share bool) *jet.Port {
			t.Helper()
			p, err := k.Port(t.Context(), name, place, share)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		next := func(p *jet.Port) (jet.Line, error) {
			limited, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return p.Next(limited)
		}
		// its own lines go both ways, and it is said when nobody is there
		own, told, relay := port(agent, "helper", "k.T.*", false), port(agent, "helper", "c", true), port(runner, "helper", "r.T", false)
		if err := own.Send("k.T.0", "", nil); err != nil {
			t.Fatal(err)
		}
		if l, err := next(own); err != nil || l.To != "k.T.0" {
			t.Fatalf("%+v, %v", l, err)
		}
		if err := relay.Send("c", "r.T", []byte("tea")); err != nil {
			t.Fatal(err)
		}
		if l, err := next(told); err != nil || string(l.Text) != "tea" || l.Back != "r.T" {
			t.Errorf("%+v, %v", l, err)
		}
		if err := told.Send("r.T", "k.T.1", []byte("ok")); err != nil {
			t.Fatal(err)
		}
		if l, err := next(relay); err != nil || string(l.Text) != "ok" || l.Back != "k.T.1" {
			t.Errorf("%+v, %v", l, err)
		}
		if err := relay.Send("k.T.1", "", []byte("answer")); err != nil {
			t.Fatal(err)
		}
		if l, err := next(own); err != nil || string(l.Text) != "answer" {
			t.Errorf("%+v, %v", l, err)
		}
		if err := told.Send("r.NOBODY", "k.T.2", []byte("ask")); err != nil {
			t.Fatal(err)
		}
		if l, err := next(own); err != nil || !l.Nobody || l.To != "k.T.2" {
			t.Errorf("%+v, %v", l, err)
		}
		// what is of others is refused, each over a connection of its own
		for _, where := range []struct {
			role        jet.Role
			name, place string
		}{{jet.Agent, "other", "c"}, {jet.Agent, "helper", "r.T"}, {jet.Agent, "*", "c"}, {jet.Submitter, "helper", "c"}, {jet.Observer, "helper", "c"}, {jet.Runner, "helper", "c"}} {
			if l, err := next(port(connect(keys[where.role]), where.name, where.place, false)); !errors.Is(err, fleet.ErrDenied) {
				t.Errorf("%v listens: %+v, %v", where, l, err)
			}
		}
		for _, role := range []jet.Role{jet.Agent, jet.Submitter, jet.Observer} {
			k := connect(keys[role])
			p := port(k, "helper", "k.X.*", false)
			if role != jet.Agent { // what it may not listen to comes first
				_, _ = next(p)
			}
			if err := p.Send("c", "k.X.0", []byte("tea")); err != nil {
				t.Fatal(err)
			}
			if l, err := next(p); !errors.Is(err, fleet.ErrDenied) {
				t.Errorf("%s tells an agent: %+v, %v", role, l, err)
			}
		}
		if _, err := agent.Get(t.Context(), "w"); !errors.Is(err, fleet.ErrDenied) {
			t.Errorf("an agent reads: %v", err)
		}
	})
}
