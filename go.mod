module github.com/ouro-timer/ouro-timer

go 1.26.0

require (
	charm.land/bubbletea/v2 v2.0.10 // draws the view of top; 2.1 costs every start more (docs/performance.md)
	github.com/BurntSushi/toml v1.6.0 // task files, records, config
	github.com/charmbracelet/x/ansi v0.11.7 // columns and letters of text, as bubbletea counts them
	github.com/fsnotify/fsnotify v1.10.1 // tells the runner of new tasks without polling
	github.com/gen2brain/beeep v0.11.2 // shows notifications on the desktop
	github.com/gofrs/flock v0.13.1 // the state lock and the runner lock
	github.com/google/jsonschema-go v0.4.3 // makes the schemas of the answers from their Go types
	github.com/gorhill/cronexpr v0.0.0-20180427100037-88b0669f7d75 // evaluates cron lines that our own front end has checked
	github.com/modelcontextprotocol/go-sdk v1.8.0 // speaks MCP to the programs that models work in
	github.com/tailscale/hujson v0.0.0-20260727124030-b80ff77dac4f // edits the JSON of other programs, and leaves comments and blanks as they are
	github.com/tj/go-naturaldate v1.3.0 // answers "in N minutes" and "in N hours", all that it is right about (docs/decisions/0016)
	github.com/urfave/cli/v2 v2.27.7 // flags and the environment behind them
	github.com/wneessen/go-mail v0.8.1 // composes email and speaks SMTP
	golang.org/x/sync v0.24.0 // a semaphore that counts bytes
	golang.org/x/sys v0.50.0 // timerfd, pidfd, close_range
	golang.org/x/term v0.47.0 // is it a terminal, and how wide
)

// Test dependencies.
require (
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // makes the manual pages; in tests alone, to link it costs every start a hundred page faults
	github.com/godbus/dbus/v5 v5.1.0 // the desktop that sessions of the command line tell
	github.com/robfig/cron/v3 v3.0.1 // a peer in the benchmarks
	github.com/rogpeppe/go-internal v1.16.0 // sessions of the command line as tests
	github.com/teambition/rrule-go v1.8.2 // holds our RFC 5545 rules against another program's
)

require (
	git.sr.ht/~jackmordaunt/go-toast v1.1.2 // indirect
	github.com/antithesishq/antithesis-sdk-go v0.9.0-default-no-op // indirect
	github.com/charmbracelet/colorprofile v0.4.3 // indirect
	github.com/charmbracelet/ultraviolet v0.0.0-20260703014108-f5a850f9c2b7 // indirect
	github.com/charmbracelet/x/term v0.2.2 // indirect
	github.com/charmbracelet/x/termios v0.1.1 // indirect
	github.com/charmbracelet/x/windows v0.2.2 // indirect
	github.com/clipperhouse/displaywidth v0.11.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/esiqveland/notify v0.13.3 // indirect
	github.com/go-ole/go-ole v1.3.0 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/jackmordaunt/icns/v3 v3.0.1 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/lucasb-eyer/go-colorful v1.4.0 // indirect
	github.com/mattn/go-runewidth v0.0.30 // indirect
	github.com/minio/highwayhash v1.0.4 // indirect
	github.com/muesli/cancelreader v0.2.2 // indirect
	github.com/nats-io/jwt/v2 v2.8.3 // indirect
	github.com/nats-io/nats-server/v2 v2.15.3 // indirect
	github.com/nats-io/nkeys v0.4.17 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/nfnt/resize v0.0.0-20180221191011-83c6a9932646 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/sergeymakinen/go-bmp v1.0.0 // indirect
	github.com/sergeymakinen/go-ico v1.0.0-beta.0 // indirect
	github.com/tadvi/systray v0.0.0-20190226123456-11a2b8fa57af // indirect
	github.com/xo/terminfo v0.0.0-20220910002029-abceb7e1c41e // indirect
	github.com/xrash/smetrics v0.0.0-20240521201337-686a1a2994c1 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.16.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)

tool github.com/nats-io/nats-server/v2 // for tests, which start it as a process; the program is not linked with it
