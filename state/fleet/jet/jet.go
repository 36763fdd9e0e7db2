// Package jet is a fleet.KV in a stream of NATS JetStream. A key is a subject, and its revision is
// a sequence of the stream. A commit is a message, or an atomic batch of messages, that expects
// sequences. Each request has a time limit, and none is repeated, because package fleet decides
// what to do when an answer does not come.
package jet

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
)

const (
	// requestLimit is how long a request waits for its answer.
	requestLimit = 2 * time.Second
	// batchesMost is how many batches one KV sends at once. Servers take 50 from all clients
	// together.
	batchesMost = 8
)

// Options are how the servers are reached.
type Options struct {
	URL   string // as state.SplitStore reads it
	Creds string // a file of credentials
	NKey  string // or a file with the seed of a key
	CA    string // a file of certificates of authorities, instead of those of the system
	Cert  string // a file with the certificate of this machine
	Key   string // a file with its key
}

// KV is a fleet's streams. It may be used from any goroutine.
type KV struct {
	nc      *nats.Conn
	stream  string
	root    string        // the beginning of all subjects
	batches chan struct{} // holds one value for each batch that has no answer yet
	leader  leader
	contact contact
}

var _ fleet.KV = (*KV)(nil)

// Open connects to the servers. Nothing is made there.
func Open(ctx context.Context, o Options) (*KV, error) {
	servers, name, err := state.SplitStore(o.URL)
	if err != nil {
		return nil, err
	}
	dial := nats.Options{Servers: strings.Split(servers, ",")}
	for _, file := range []string{o.Creds, o.NKey} {
		if file != "" {
			if dial.Login, err = nats.ReadLogin(file); err != nil {
				return nil, err
			}
		}
	}
	if o.CA != "" || o.Cert != "" {
		if dial.TLS, err = certificates(o); err != nil {
			return nil, err
		}
	}
	nc, err := nats.Dial(ctx, dial)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fleet.ErrAway, err)
	}
	return &KV{nc: nc, stream: "OURO_" + name, root: "OURO." + name + ".", batches: make(chan struct{}, batchesMost),
		leader: leader{by: nc.Info().Name}, contact: contact{since: time.Now()}}, nil
}

// certificates returns the TLS configuration with the certificates of the options.
func certificates(o Options) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		data, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s has no certificate", o.CA)
		}
	}
	if o.Cert != "" {
		own, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// Close ends the connection.
func (k *KV) Close() { k.nc.Close() }

// The codes of errors that the store handles.
const (
	codeMoved     = 10071 // wrong last sequence, and which it is
	codeMoving    = 10164 // a message for the subject is on its way
	codeNoStream  = 10059
	codeNoMessage = 10037
	codeTooLarge  = 10054 // a message
	codeInUse     = 10058 // the name of a stream, with another configuration
	codeNoLeader  = 10008 // the server does not know who decides
)

// apiError is an error as servers answer it.
type apiError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string { return fmt.Sprintf("%s (%d)", e.Description, e.ErrCode) }

// known returns the error of package fleet for an error of the servers, if it has one.
func (k *KV) known(e *apiError) error {
	switch {
	case e == nil:
		return nil
	case e.ErrCode == codeNoStream:
		return fmt.Errorf("%w %q", fleet.ErrUnmade, k.fleet())
	case e.ErrCode == codeMoved:
		return fleet.ErrMoved
	case e.ErrCode == codeMoving:
		return fleet.ErrMoving
	case e.ErrCode == codeTooLarge:
		return fleet.ErrTooLarge
	}
	return e
}

// request sends messages and waits for the answer to the last.
func (k *KV) request(ctx context.Context, list ...nats.Msg) (nats.Msg, error) {
	limited, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	answer, err := k.nc.Request(limited, list...)
	if ctx.Err() == nil && (errors.Is(err, nats.ErrNobody) || errors.Is(err, context.DeadlineExceeded)) {
		k.reached(false)
	}
	return answer, fleetError(answer, err)
}

// fleetError returns the error of package fleet for one of package nats, if it has one. m is the
// message that came with the error.
func fleetError(m nats.Msg, err error) error {
	switch {
	case errors.Is(err, nats.ErrTooLarge):
		return fleet.ErrTooLarge
	case errors.Is(err, nats.ErrDenied):
		return fmt.Errorf("%w: %s", fleet.ErrDenied, m.Header["Description"])
	}
	return err
}

// api sends a request to the API of JetStream.
func (k *KV) api(ctx context.Context, verb string, ask, into any) error {
	data, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	answer, err := k.request(ctx, nats.Msg{Subject: "$JS.API." + verb, Data: data})
	if err != nil {
		return err
	}
	var e struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &e); err != nil {
		return err
	}
	k.reached(e.Error == nil || e.Error.ErrCode != codeNoLeader)
	if e.Error != nil {
		return k.known(e.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// subject returns the subject, or the filter of subjects, for a key or a prefix.
func (k *KV) subject(prefix string) string {
	if strings.HasSuffix(prefix, ".") {
		return k.root + prefix + ">"
	}
	return k.root + prefix
}

const nonceHeader = "Ouro-Nonce"

// Get implements fleet.KV: the leader of the stream answers. Of a prefix, it is the last message of
// all keys.
func (k *KV) Get(ctx context.Context, key string) (fleet.Cell, error) {
	for {
		c, err := k.last(ctx, k.stream, k.subject(key))
		if err != nil {
			return fleet.Cell{}, err
		}
		switch asked, err := k.checkLeader(ctx); {
		case err != nil:
			return fleet.Cell{}, err
		case !asked:
			k.leader.saw(c.Rev)
			return c, nil
		}
		// this answer may be from before
	}
}

// cell reads a message of the stream that a server has sent.
func (k *KV) cell(m nats.Msg) (fleet.Cell, error) {
	if status := m.Header["Status"]; status != "" {
		return fleet.Cell{}, fmt.Errorf("the server answers %s %s", status, m.Header["Description"])
	}
	rev, err := strconv.ParseUint(m.Header["Nats-Sequence"], 10, 64)
	k.leader.saw(rev)
	return fleet.Cell{Key: strings.TrimPrefix(m.Header["Nats-Subject"], k.root), Rev: rev, Data: m.Data, Nonces: m.Header[nonceHeader]}, err
}

// last asks the leader of a stream for the last message of a subject.
func (k *KV) last(ctx context.Context, stream, subject string) (fleet.Cell, error) {
	var got struct {
		Stored struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Time    time.Time `json:"time"`
			Header  []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
		} `json:"message"`
	}
	err := k.api(ctx, "STREAM.MSG.GET."+stream, map[string]string{"last_by_subj": subject}, &got)
	if e, ok := errors.AsType[*apiError](err); ok && e.ErrCode == codeNoMessage {
		return fleet.Cell{}, nil
	}
	if err != nil {
		return fleet.Cell{}, err
	}
	m := got.Stored
	c := fleet.Cell{Key: strings.TrimPrefix(m.Subject, k.root), Rev: m.Seq, Data: m.Data, At: m.Time}
	c.Nonces = nats.ParseHeader(m.Header)[nonceHeader]
	return c, nil
}

// message returns the message that publishes an operation.
func (k *KV) message(op fleet.Op) nats.Msg {
	m := nats.Msg{Subject: k.root + op.Key, Data: op.Data, Header: nats.Header{nonceHeader: op.Nonces}}
	if op.Cell.Rev != fleet.Any {
		m.Header["Nats-Expected-Last-Subject-Sequence"] = decimal(op.Cell.Rev)
	}
	if !op.Append {
		m.Header["Nats-Rollup"] = "sub"
	}
	if op.TTL > 0 {
		m.Header["Nats-TTL"] = op.TTL.String()
	}
	return m
}

// Commit implements fleet.KV.
func (k *KV) Commit(ctx context.Context, ops []fleet.Op) error {
	list := make([]nats.Msg, len(ops))
	for i, op := range ops {
		list[i] = k.message(op)
	}
	if len(ops) > 1 {
		select {
		case k.batches <- struct{}{}:
			defer func() { <-k.batches }()
		case <-ctx.Done():
			return ctx.Err()
		}
		id := rand.Text()
		for i, m := range list {
			m.Header["Nats-Batch-Id"], m.Header["Nats-Batch-Sequence"] = id, strconv.Itoa(i+1)
		}
		list[len(list)-1].Header["Nats-Batch-Commit"] = "1"
	}
	done, err := k.publish(ctx, list...)
	k.leader.saw(done.Seq)
	return err
}

// ack is the answer to messages that are in a stream now.
type ack struct {
	Error  *apiError `json:"error"`
	Seq    uint64    `json:"seq"` // of the last
	Number string    `json:"val"` // of a counter
}

// publish sends messages and waits for the ack of the last.
func (k *KV) publish(ctx context.Context, list ...nats.Msg) (done ack, err error) {
	answer, err := k.request(ctx, list...)
	if errors.Is(err, nats.ErrNobody) { // either there is no leader just now, or there is no stream
		if _, e := k.Get(ctx, ""); errors.Is(e, fleet.ErrUnmade) {
			err = e
		}
	}
	if err != nil {
		return ack{}, err
	}
	if err := json.Unmarshal(answer.Data, &done); err != nil {
		return ack{}, err
	}
	k.reached(true)
	// After 10176 (the beginning of the batch is not there) and 10210 (too many batches at once)
	// package fleet looks, and tries the same again.
	return done, k.known(done.Error)
}

// fleet is the name of the fleet.
func (k *KV) fleet() string { return strings.TrimPrefix(k.stream, "OURO_") }

// Keep implements fleet.KV with a stream of its own, whose size is bounded.
func (k *KV) Keep(ctx context.Context, key string, text []byte) error {
	_, err := k.publish(ctx, nats.Msg{Subject: "OURO_OUTPUTS." + k.fleet() + "." + key, Data: text})
	return err
}

// Kept implements fleet.KV.
func (k *KV) Kept(ctx context.Context, key string) ([]byte, error) {
	c, err := k.last(ctx, "OURO_OUTPUTS_"+k.fleet(), "OURO_OUTPUTS."+k.fleet()+"."+key)
	return c.Data, err
}

// Number implements fleet.KV with a counter of the servers.
func (k *KV) Number(ctx context.Context, n int) (uint64, error) {
	done, err := k.publish(ctx, nats.Msg{Subject: "OURO_NUMBERS." + k.fleet(), Header: nats.Header{"Nats-Incr": strconv.Itoa(n)}})
	if err != nil {
		return 0, err
	}
	end, err := strconv.ParseUint(done.Number, 10, 64)
	return end - uint64(n), err
}

// Purge implements fleet.KV.
func (k *KV) Purge(ctx context.Context, prefix string, to uint64) error {
	ask := map[string]any{"filter": k.subject(prefix)}
	if to > 0 {
		ask["seq"] = to + 1
	}
	return k.api(ctx, "STREAM.PURGE."+k.stream, ask, &struct{}{})
}
