package jet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
)

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// streamConfig is the part of the configuration of a stream that Init sets.
type streamConfig struct {
	Name     string   `json:"name"`
	Subjects []string `json:"subjects"`
	Storage  string   `json:"storage"`
	Replicas int      `json:"num_replicas"`
	Atomic   bool     `json:"allow_atomic,omitempty"`
	Rollup   bool     `json:"allow_rollup_hdrs,omitempty"`
	TTL      bool     `json:"allow_msg_ttl,omitempty"`
	Direct   bool     `json:"allow_direct"`
	Counter  bool     `json:"allow_msg_counter,omitempty"`
	Discard  string   `json:"discard"`
	MaxBytes int64    `json:"max_bytes,omitempty"`
	MaxPer   int64    `json:"max_msgs_per_subject,omitempty"`
}

type streamInfo struct {
	Config  streamConfig `json:"config"`
	Cluster *struct {
		Name     string `json:"name"`
		Leader   string `json:"leader"`
		Replicas []struct {
			Name    string `json:"name"`
			Current bool   `json:"current"`
		} `json:"replicas"`
	} `json:"cluster"`
	State struct {
		Messages uint64 `json:"messages"`
		Bytes    uint64 `json:"bytes"`
		Last     uint64 `json:"last_seq"`
	} `json:"state"`
}

// Shape describes the state of a fleet and its servers.
type Shape struct {
	Fleet    string
	Servers  []string // the one that is asked, by name and version, first
	Version  string
	Leader   string
	Replicas int
	Behind   []string // servers that do not have the whole state
	Messages uint64
	Bytes    uint64
}

// outputsMost is how many bytes of the outputs of runs are kept for other machines. One file has at
// most 256 KiB.
const outputsMost = 64 << 20

// Init creates the streams of a fleet, or updates the replicas of streams that exist.
func (k *KV) Init(ctx context.Context, replicas int) error {
	if err := k.supported(); err != nil {
		return err
	}
	name := k.fleet()
	main := streamConfig{
		Name: k.stream, Subjects: []string{k.root + ">"}, Storage: "file", Replicas: replicas,
		Atomic: true, Rollup: true, TTL: true, Direct: true, Discard: "new",
	}
	numbers := streamConfig{
		Name: "OURO_NUMBERS_" + name, Subjects: []string{"OURO_NUMBERS." + name}, Storage: "file", Replicas: replicas,
		Counter: true, Direct: true, Discard: "old",
	}
	outputs := streamConfig{
		Name: "OURO_OUTPUTS_" + name, Subjects: []string{"OURO_OUTPUTS." + name + ".>"}, Storage: "file", Replicas: replicas,
		Direct: true, Discard: "old", MaxBytes: outputsMost, MaxPer: 1,
	}
	for _, c := range []streamConfig{main, numbers, outputs} {
		err := k.api(ctx, "STREAM.CREATE."+c.Name, c, &struct{}{})
		var e *apiError
		if errors.As(err, &e) && e.ErrCode == codeInUse {
			err = k.api(ctx, "STREAM.UPDATE."+c.Name, c, &struct{}{})
		}
		if errors.As(err, &e) && (e.ErrCode == codeAlone || e.ErrCode == codeFewPeers) {
			err = fmt.Errorf("%w: %w", ErrFewServers, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ErrFewServers: there are not enough servers for the number of replicas.
var ErrFewServers = errors.New("there are fewer servers than replicas were asked for")

// The codes of the servers that mean ErrFewServers.
const (
	codeAlone    = 10074 // more than one replica, and no cluster
	codeFewPeers = 10005
)

// Probe writes a message and reads it back. It returns how long the write took, and how far this
// machine's clock is ahead of the server's.
func (k *KV) Probe(ctx context.Context) (took, ahead time.Duration, err error) {
	const probe = "y"
	m := nats.Msg{Subject: k.root + probe, Header: nats.Header{"Nats-Rollup": "sub", "Nats-TTL": "1m"}}
	before := time.Now()
	_, err = k.publish(ctx, m)
	after := time.Now()
	if err != nil {
		return 0, 0, err
	}
	c, err := k.Get(ctx, probe)
	took = after.Sub(before)
	return took, before.Add(took / 2).Sub(c.At), err
}

// supported refuses servers that are too old: those before 2.15 commit each message by itself.
func (k *KV) supported() error {
	version := k.nc.Info().Version
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major < 2 || major == 2 && minor < 15 {
		return fmt.Errorf("%w: the server %s is of version %s, and fleets need 2.15 or later", state.ErrUnusable, k.nc.Info().Name, version)
	}
	return nil
}

// Shape returns the shape of the fleet.
func (k *KV) Shape(ctx context.Context) (s Shape, err error) {
	var info streamInfo
	err = k.api(ctx, "STREAM.INFO."+k.stream, struct{}{}, &info)
	s = Shape{
		Fleet: k.fleet(), Servers: []string{k.nc.Info().Name}, Version: k.nc.Info().Version,
		Replicas: info.Config.Replicas, Messages: info.State.Messages, Bytes: info.State.Bytes,
	}
	if err == nil {
		err = k.supported()
	}
	if info.Cluster != nil {
		s.Leader = info.Cluster.Leader
		for _, r := range info.Cluster.Replicas {
			if r.Name != s.Servers[0] {
				s.Servers = append(s.Servers, r.Name)
			}
			if !r.Current {
				s.Behind = append(s.Behind, r.Name)
			}
		}
		if s.Leader != s.Servers[0] {
			s.Servers = append(s.Servers, s.Leader)
		}
	}
	return s, err
}
