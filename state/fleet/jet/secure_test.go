package jet_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
)

// seed is the key of a user of no server but that of this test.
const seed = "SUAAKEA3EYYTYR2SLVUHG7UJSSP2VNOAZPLOD3HXAIGRQIZOHFCE6WUDAQ"

// TestSecure: with a certificate and a key the servers let us in, and without either they do not.
func TestSecure(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := file("user.nk", seed)
	login, err := nats.ReadLogin(key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert := file("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	certKey := file("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})))
	servers := natstest.Start(t, 1, fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, certKey, cert),
		fmt.Sprintf("authorization { users: [ { nkey: %q } ] }", login.Public()))
	url := strings.Replace(servers.URL(), "nats://", "tls://", 1)
	good := jet.Options{URL: url, NKey: key, CA: cert, Cert: cert, Key: certKey}
	k, err := jet.Open(context.Background(), good)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if err := k.Init(t.Context(), 1); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*jet.Options){
		"no key":                      func(o *jet.Options) { o.NKey = "" },
		"no certificate":              func(o *jet.Options) { o.Cert, o.Key = "", "" },
		"an authority nobody knows":   func(o *jet.Options) { o.CA = "" },
		"a file that has no key":      func(o *jet.Options) { o.NKey = cert },
		"a file that is not there":    func(o *jet.Options) { o.Creds = filepath.Join(dir, "none") },
		"an authority without a text": func(o *jet.Options) { o.CA = key },
	} {
		o := good
		spoil(&o)
		if k, err := jet.Open(context.Background(), o); err == nil {
			k.Close()
			t.Errorf("with %s they let us in", name)
		}
	}
}
