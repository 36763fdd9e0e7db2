package health

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRealServers asks real servers, from Debian's packages, where OURO_TEST_SERVERS is set and their programs are there.
// A line is for sh, in the empty folder $1, with the free ports $2, $3 and $4. It ends with the server in its own place;
// what it starts beside it stays in its process group, with which it is ended.
func TestRealServers(t *testing.T) {
	if os.Getenv("OURO_TEST_SERVERS") == "" {
		t.Skip("OURO_TEST_SERVERS is not set")
	}
	const as = `as() { if [ "$(id -u)" = 0 ]; then u=$1; chown $u .; shift; exec setpriv --reuid=$u --regid=$u --clear-groups "$@"; else shift; exec "$@"; fi; }; `
	const pgStart = as + `PATH=$PATH:$(echo /usr/lib/postgresql/*/bin); (as postgres initdb -D data -A %s -U postgres --pwfile=/etc/hostname --no-sync >/dev/null) || exit; %s as postgres postgres -D data -p $2 -h 127.0.0.1 -k "$PWD" -c fsync=off`
	for _, test := range []struct {
		name, needs, line, target string
		never                     string // what is said for ever; "": it becomes ready
	}{
		{name: "PostgreSQL", needs: "/usr/lib/postgresql/*/bin/initdb", line: fmt.Sprintf(pgStart, "scram-sha-256", ""), target: "postgres://127.0.0.1:PORT/app"},
		{name: "PostgreSQL that trusts", needs: "/usr/lib/postgresql/*/bin/initdb", line: fmt.Sprintf(pgStart, "trust", ""), target: "postgres://127.0.0.1:PORT"},
		{name: "PostgreSQL without the database", needs: "/usr/lib/postgresql/*/bin/initdb", line: fmt.Sprintf(pgStart, "trust", ""), target: "postgres://127.0.0.1:PORT/app",
			never: `not ready: database "app" does not exist`},
		{name: "PostgreSQL that recovers", needs: "/usr/lib/postgresql/*/bin/initdb", target: "postgres://127.0.0.1:PORT", never: "not ready: the database system is starting up",
			line: fmt.Sprintf(pgStart, "trust", `touch data/recovery.signal; chown --reference=data data/recovery.signal; echo "restore_command='sleep 600'" >>data/postgresql.auto.conf;`)},
		{name: "Redis", needs: "redis-server", line: `exec redis-server --port $2 --save "" --bind 127.0.0.1`, target: "redis://127.0.0.1:PORT/0"},
		{name: "Redis with a password", needs: "redis-server", line: `exec redis-server --port $2 --save "" --bind 127.0.0.1 --requirepass pw`, target: "redis://127.0.0.1:PORT"},
		{name: "Redis that takes it", needs: "redis-server", line: `exec redis-server --port $2 --save "" --bind 127.0.0.1 --requirepass pw`, target: "redis://:pw@127.0.0.1:PORT"},
		{name: "Redis that loads", needs: "redis-server", line: `seq 300000 | awk '{printf "*3\r\n$3\r\nSET\r\n$%d\r\n%d\r\n$1\r\nx\r\n", length($1), $1}' >appendonly.aof; mkdir a; mv appendonly.aof a/appendonly.aof.1.incr.aof; ` +
			`echo 'file appendonly.aof.1.incr.aof seq 1 type i' >a/appendonly.aof.manifest; ` +
			`exec redis-server --port $2 --bind 127.0.0.1 --appendonly yes --appenddirname a --key-load-delay 1000 --loading-process-events-interval-bytes 1024`,
			target: "redis://127.0.0.1:PORT", never: "not ready: LOADING Redis is loading the dataset in memory"},
		{name: "MariaDB", needs: "mariadbd", target: "mysql://127.0.0.1:PORT/app",
			line: as + `(as mysql mariadb-install-db --no-defaults --datadir="$PWD" >/dev/null 2>&1); as mysql mariadbd --no-defaults --datadir="$PWD" --socket="$PWD/s" --port=$2 --bind-address=127.0.0.1 --pid-file="$PWD/pid"`},
		{name: "NATS", needs: "nats-server", line: `exec nats-server -a 127.0.0.1 -p $2`, target: "nats://127.0.0.1:PORT"},
		{name: "NATS with a password", needs: "nats-server", line: `exec nats-server -a 127.0.0.1 -p $2 --user a --pass b`, target: "nats://127.0.0.1:PORT"},
		{name: "RabbitMQ", needs: rabbit, line: rabbitmq, target: "amqp://127.0.0.1:PORT/vhost"},
		{name: "dnsmasq", needs: "dnsmasq", line: dnsmasq, target: "dns://127.0.0.1:PORT/up.test"},
		{name: "dnsmasq, a record of mail", needs: "dnsmasq", line: dnsmasq, target: "dns://127.0.0.1:PORT/up.test?type=MX"},
		{name: "dnsmasq without the name", needs: "dnsmasq", line: dnsmasq, target: "dns://127.0.0.1:PORT/none.test", never: "not ready: NXDOMAIN"},
		{name: "dnsmasq without the record", needs: "dnsmasq", line: dnsmasq, target: "dns://127.0.0.1:PORT/up.test?type=AAAA", never: "the answer has no record of type AAAA"},
		{name: "Unbound", needs: "unbound", line: unbound, target: "dns://127.0.0.1:PORT/up.test"},
		{name: "Unbound, more than fits into UDP", needs: "unbound", line: unbound, target: "dns://127.0.0.1:PORT/long.test?type=TXT"},
		{name: "Unbound without the name", needs: "unbound", line: unbound, target: "dns://127.0.0.1:PORT/none.test", never: "not ready: NXDOMAIN"},
		{name: "Unbound without the record", needs: "unbound", line: unbound, target: "dns://127.0.0.1:PORT/up.test?type=AAAA", never: "the answer has no record of type AAAA"},
		{name: "Unbound that cannot ask others", needs: "unbound", line: unbound, target: "dns://127.0.0.1:PORT/example.org", never: "not ready: SERVFAIL"},
		{name: "Unbound that refuses", needs: "unbound", line: `ACCESS=refuse; ` + unbound, target: "dns://127.0.0.1:PORT/up.test", never: "not ready: REFUSED"},
		{name: "BIND", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/up.test"},
		{name: "BIND, an alias", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/alias.test"},
		{name: "BIND, a service", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/_app._tcp.test?type=SRV"},
		{name: "BIND, more than fits into UDP", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/long.test?type=TXT"},
		{name: "BIND without the name", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/none.test", never: "not ready: NXDOMAIN"},
		{name: "BIND without the record", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/up.test?type=MX", never: "the answer has no record of type MX"},
		{name: "BIND whose zone has not come", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/up.later", never: "not ready: SERVFAIL"},
		{name: "BIND of other zones", needs: "named", line: bind, target: "dns://127.0.0.1:PORT/example.org", never: "not ready: REFUSED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if found, _ := filepath.Glob(test.needs); len(found) == 0 {
				if _, err := exec.LookPath(test.needs); err != nil {
					t.Skip(test.needs + " is not here")
				}
			}
			dir, port := t.TempDir(), freePort(t)
			for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
				os.Chmod(d, 0o755) // servers that refuse root come here as somebody else
			}
			server := exec.Command("sh", "-c", test.line, "sh", dir, port, freePort(t), freePort(t))
			server.Dir, server.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
			var log strings.Builder
			server.Stdout, server.Stderr, server.WaitDelay = &log, &log, time.Second
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			ended := func() {
				syscall.Kill(-server.Process.Pid, syscall.SIGKILL)
				server.Wait()
			}
			wanted := make(chan struct{}, 1)
			o := Options{Timeout: 5 * time.Minute, Observe: func(_ int, r TargetResult) {
				if test.never != "" && r.Last.String() == test.never {
					select {
					case wanted <- struct{}{}:
					default:
					}
				}
			}}
			done := make(chan Result, 1)
			go func() { done <- Wait(t.Context(), mustParse(t, strings.Replace(test.target, "PORT", port, 1)), o) }()
			select {
			case <-wanted:
				ended()
			case r := <-done:
				ended()
				if r.Healthy != (test.never == "") {
					t.Errorf("healthy %v, %s; it says %s", r.Healthy, r.Targets[0].Last, log.String())
				}
			}
		})
	}
}

const dnsmasq = `exec dnsmasq -k --port=$2 --listen-address=127.0.0.1 --bind-interfaces --no-resolv --no-hosts --local=/test/ ` +
	`--address=/up.test/10.0.0.1 --mx-host=up.test,mail.test --pid-file= --conf-file=/dev/null --user=$(id -un)`

// RabbitMQ registers with a daemon of Erlang, which it would start and leave behind: here it has one of its own.
const (
	rabbit   = "/usr/lib/rabbitmq/bin/rabbitmq-server"
	rabbitmq = `export HOME=$PWD ERL_EPMD_PORT=$3 ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_NODENAME=ouro@localhost RABBITMQ_DIST_PORT=$4
RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=$2 RABBITMQ_MNESIA_BASE=$PWD/db RABBITMQ_LOG_BASE=$PWD/log RABBITMQ_PID_FILE=$PWD/pid
RABBITMQ_ENABLED_PLUGINS_FILE=$PWD/plugins RABBITMQ_CONFIG_FILE=$PWD/conf RABBITMQ_CONF_ENV_FILE=/dev/null
export RABBITMQ_NODE_IP_ADDRESS RABBITMQ_NODE_PORT RABBITMQ_MNESIA_BASE RABBITMQ_LOG_BASE RABBITMQ_PID_FILE
export RABBITMQ_ENABLED_PLUGINS_FILE RABBITMQ_CONFIG_FILE RABBITMQ_CONF_ENV_FILE
epmd & exec ` + rabbit
)

// Unbound answers by itself for the zone test, and asks a server that is not there for the rest.
const unbound = `{ cat <<EOF
server:
  interface: 127.0.0.1
  port: $2
  access-control: 127.0.0.0/8 ${ACCESS:-allow}
  do-daemonize: no
  use-syslog: no
  do-not-query-localhost: no
  outbound-msg-retry: 1
  module-config: "iterator"
  username: ""
  chroot: ""
  pidfile: ""
  directory: "$PWD"
  local-zone: "test." static
  local-data: "up.test. A 10.0.0.1"
EOF
seq 100 140 | sed 's/.*/  local-data: "long.test. TXT one-line-of-many-&"/'
printf 'remote-control:\n  control-enable: no\nforward-zone:\n  name: "."\n  forward-addr: 127.0.0.1@%s\n' $3; } >conf
exec unbound -d -c conf`

// BIND has the zone test, and is to get the zone later from a server that is not there.
const bind = `cat >conf <<EOF
options {
  directory "$PWD";
  listen-on port $2 { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none;
  lock-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
};
controls { };
zone "test" { type primary; file "test"; };
zone "later" { type secondary; primaries { 127.0.0.1 port $3; }; };
EOF
{ cat <<'EOF'
$TTL 60
@ SOA ns admin 1 3600 600 86400 60
@ NS ns
ns A 127.0.0.1
up A 10.0.0.1
alias CNAME up
_app._tcp SRV 0 0 80 up
EOF
seq 100 140 | sed 's/.*/long TXT one-line-of-many-&/'; } >test
exec named -g -c conf`
