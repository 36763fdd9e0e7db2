package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// The forms of --stdin.
const (
	formJSONL = "jsonl" // one object a line
	formLines = "lines" // one line for the shell a line, and one WHEN for all
	formJSON  = "json"  // one object
)

// stdin is a call of at --stdin.
type stdin struct {
	*session
	base   session // as the lines are read against: another goroutine than the one that schedules reads them
	form   string
	table  fieldTable
	timed  bool          // the command line gives a time
	span   time.Duration // of --spread
	st     state.Store
	worst  int // exit code so far
	counts struct{ created, kept, replaced, failed int }
	warned map[string]bool
	quiet  []*likeWarnings // with --quiet: what the end says of the lines, a kind after the other
	runner keeper
}

// likeWarnings are the warnings of one kind.
type likeWarnings struct {
	kind, text string // text is that of the first line
	line, n    int
}

// particular is what differs between warnings of a kind: what is quoted, and which task it is.
var particular = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\btask [a-z2-9]{4,}`)

// collect counts a warning of a line among those of its kind.
func (in *stdin) collect(line int, text string) {
	kind := particular.ReplaceAllString(text, "")
	i := slices.IndexFunc(in.quiet, func(w *likeWarnings) bool { return w.kind == kind })
	if i < 0 {
		i = len(in.quiet)
		in.quiet = append(in.quiet, &likeWarnings{kind: kind, text: text, line: line})
	}
	in.quiet[i].n++
}

// tellCollected says each kind of warning once, with how many lines it is of.
func (in *stdin) tellCollected() {
	for _, w := range in.quiet {
		if w.n == 1 {
			in.warn("warning: line %d: %s", w.line, visible(w.text))
		} else {
			in.warn("warning: %d lines, the first of them line %d: %s", w.n, w.line, visible(w.text))
		}
	}
}

func runAtStdin(ctx context.Context, s *session) error {
	in := &stdin{session: s, table: newFieldTable(s.cmd), warned: map[string]bool{}}
	if err := in.readCall(ctx); err != nil {
		return err
	}
	if in.form == formJSON {
		o, err := in.readOne(ctx)
		if err != nil {
			return err
		}
		return runAt(ctx, s, o)
	}
	st, err := s.open()
	if err != nil {
		return err
	}
	in.st = st
	return in.run(ctx)
}

// readCall reads the command line, and refuses what has no meaning beside --stdin or is wrong for every line.
func (in *stdin) readCall(ctx context.Context) error {
	in.form = strings.ToLower(strings.TrimSpace(in.cli.String("stdin")))
	if !slices.Contains(choices["stdin"], in.form) {
		_, err := oneOf("stdin", orElse(in.form, quote("")))
		return err
	}
	text, form, forced, err := in.forced()
	if err != nil {
		return err
	}
	if forced && len(in.args) > 0 {
		return usage(in.option(string(form))+" gives the time already; what is "+quote(strings.Join(in.args, " "))+"?", "leave one of them out")
	}
	if !forced {
		text = strings.Join(in.args, " ")
	}
	in.timed = forced || len(in.args) > 0
	for _, odd := range []struct {
		is         bool
		name, hint string
	}{
		{in.dash, "a command after --", "the lines say what to run"},
		{in.cli.IsSet("c"), "-c", "the lines say what to run"},
		{in.cli.IsSet("file"), "-f", "the lines say what to run"},
		{in.form != formJSON && in.cli.IsSet("key"), "--key", `a key is one task's: give each line its own "key", with --stdin jsonl`},
		{in.form == formLines && in.cli.IsSet("replace"), "--replace", "lines have no keys; give objects with --stdin jsonl"},
		{in.form != formJSON && in.cli.IsSet("expect"), "--expect", `it is one task's: give each line its own "expect", with --stdin jsonl`},
		{in.form == formJSON && in.cli.IsSet("spread"), "--spread", "it deals out the lines of --stdin lines and --stdin jsonl"},
		{in.cli.IsSet("spread") && in.cli.IsSet("jitter"), "--jitter with --spread", "give one of them: --spread puts each task off by its share of the span"},
	} {
		if odd.is {
			return usage(odd.name+" has no meaning beside --stdin "+in.form, odd.hint)
		}
	}
	if in.span, err = in.spread(); err != nil {
		return err
	}
	switch {
	case in.form == formLines && !in.timed:
		return usage("when? --stdin lines needs one time for all lines", "ouro-timer at tomorrow 10am --stdin lines")
	case in.span > 0 && !in.timed:
		return usage("--spread needs the time at which it begins", "ouro-timer at 22:00 --spread 1h --stdin "+in.form)
	}
	// What the settings say is read here, once: lines are read by a goroutine of their own.
	opts, err := in.options()
	if err != nil {
		return err
	}
	if _, err := in.surroundings(); err != nil {
		return err
	}
	in.base = *in.session
	in.base.finder = in.programs() // one for all lines
	in.base.cli = snapshot(in.cli, in.cmd)
	if !in.cli.IsSet("tz") {
		in.base.ownZone = opts.Zone
	}
	if !in.timed {
		return nil
	}
	opts.Form = form
	if in.form != formLines {
		if err := in.bounds(&opts); err != nil {
			return err
		}
		_, err := when.Parse(text, opts)
		return err
	}
	// One line stands for all: what is wrong with it is wrong with the call.
	sample := in.line(&fields{table: in.table, call: in.base.cli, flags: map[string]any{"c": "true"}}, shareIf(in.span))
	sample.sample = true
	_, err = sample.readAt(ctx)
	return err
}

// shareIf is a share of the span, if there is one.
func shareIf(span time.Duration) *share {
	if span == 0 {
		return nil
	}
	return shareOf(span, 0, 1)
}

// line is a call of at that the fields stand for.
func (in *stdin) line(f *fields, part *share) *session {
	one := in.base
	one.cli, one.tail, one.dash, one.share = f, f.argv, f.argv != nil, part
	if f.timed() {
		if one.args = nil; f.when != nil {
			one.args = []string{*f.when}
		}
		one.share = nil
	}
	return &one
}

// read reads one line.
func (in *stdin) read(ctx context.Context, text string, part *share) (atOptions, error) {
	f := &fields{table: in.table, call: in.base.cli}
	var err error
	if in.form == formLines {
		f.flags = map[string]any{"c": text}
		err = isText([]byte(text))
	} else {
		f, err = in.table.read([]byte(text), in.base.cli)
		if err == nil && !in.timed && !f.timed() {
			hint := `give it a time, "when": "in 10m"`
			if in.form != formJSON {
				hint = `give it a time, "when": "tomorrow at 10:00", or give one on the command line for all lines that have none`
			}
			err = usage("it does not say when", hint)
		}
	}
	if errors.Is(err, errNothing) && f.when != nil { // a time that is none is told before what is missing
		if o, bad := in.line(f, part).options(); bad == nil {
			if _, bad = when.Parse(*f.when, o); bad != nil {
				err = bad
			}
		}
	}
	if err != nil {
		return atOptions{}, err
	}
	o, err := in.line(f, part).readAt(ctx)
	if err != nil && ctx.Err() == nil && in.form != formLines {
		err = f.refusal(err)
	}
	o.task.Created = o.read.UTC()
	return o, err
}

// blank reports whether a line says nothing: it is empty or, of lines for the shell, a comment.
func (in *stdin) blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || in.form == formLines && text[0] == '#'
}

// readOne reads all of standard input as one object.
func (in *stdin) readOne(ctx context.Context) (atOptions, error) {
	var data []byte
	var err error
	read := make(chan struct{})
	go func() { // standard input may be a pipe that nobody writes to: the caller can still end us
		defer close(read)
		data, err = io.ReadAll(io.LimitReader(in.In, lineMost+1))
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return atOptions{}, ctx.Err()
	}
	text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	switch {
	case err != nil:
		return atOptions{}, unreadable(err)
	case len(data) > lineMost:
		return atOptions{}, tooLarge("standard input")
	case strings.TrimSpace(text) == "":
		return atOptions{}, usage("standard input is empty", "write an object such as "+example)
	}
	o, err := in.read(ctx, text, nil)
	var f *failure
	if errors.As(err, &f) && strings.HasPrefix(f.message, "it ") {
		told := *f
		told.message = "standard input: " + f.message
		err = &told
	}
	return o, err
}

func unreadable(err error) error {
	return &failure{exit: exitFailed, code: codeFailed, message: "standard input could not be read: " + err.Error(), hint: "what was answered is scheduled; call again with the rest"}
}

// feed reads the lines into the intake, until they or ctx end.
func (in *stdin) feed(ctx context.Context, to *intake) error {
	lines := newLineReader(in.In, lineMost)
	if in.span > 0 {
		return in.feedSpread(ctx, lines, to)
	}
	for {
		text, err := lines.next()
		it := item{line: lines.number, size: len(text) + 1<<10}
		switch {
		case errors.Is(err, errLong):
			it.err = tooLong()
		case err == io.EOF:
			return io.EOF
		case err != nil:
			return unreadable(err)
		case in.blank(text):
			continue
		default:
			it.o, it.err = in.read(ctx, text, nil)
		}
		if err := to.put(ctx, it); err != nil {
			return err
		}
	}
}

// feedSpread deals out those lines that have no time of their own and can be read.
func (in *stdin) feedSpread(ctx context.Context, r *lineReader, to *intake) error {
	lines, err := r.all(in.blank)
	if err != nil {
		var f *failure
		if !errors.As(err, &f) {
			err = unreadable(err)
		}
		return err
	}
	in.base.present = in.Clock.Now() // one beginning for all
	dealt := make([]bool, len(lines))
	n := 0
	for i, l := range lines {
		if l.err == nil && in.form == formLines {
			dealt[i] = isText([]byte(l.text)) == nil
		} else if l.err == nil {
			f, err := in.table.read([]byte(l.text), in.base.cli)
			dealt[i] = err == nil && !f.timed()
		}
		if dealt[i] {
			n++
		}
	}
	k := 0
	for i, l := range lines {
		it := item{line: l.line, size: len(l.text) + 1<<10}
		var part *share
		if dealt[i] {
			part = shareOf(in.span, k, n)
			k++
		}
		if it.err = l.err; l.err != nil {
			it.err = tooLong()
		} else {
			it.o, it.err = in.read(ctx, l.text, part)
		}
		if err := to.put(ctx, it); err != nil {
			return err
		}
	}
	return io.EOF
}

// garbage is how much may lie while lines are read, in percent of what is in use, which is little: with the usual 100 it is collected a hundred
// times a second, which takes a third of the time.
const garbage = 200

// run schedules what the lines say, and answers each in its turn. What was answered is durable.
func (in *stdin) run(ctx context.Context) error {
	if f, ok := in.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		in.talk("Reading from the terminal; Ctrl-D ends it.")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	to := newIntake()
	go func() { to.end(in.feed(feeding, to)) }()
	defer in.tellCollected()
	in.runner.start(in)
	defer in.runner.stop()
	for {
		batch, err := to.take(ctx, in.runner.idle)
		if err == nil && batch != nil {
			err = in.schedule(ctx, batch)
		} else if err == nil || err == io.EOF {
			in.runner.look(ctx, err == io.EOF)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	in.sum()
	if in.worst != exitOK {
		return exitCode(in.worst)
	}
	return nil
}

// schedule puts a batch into the queue and answers it. Its error ends the call.
func (in *stdin) schedule(ctx context.Context, batch []item) error {
	drafts := make([]state.Draft, 0, len(batch))
	for _, it := range batch {
		if it.err == nil {
			drafts = append(drafts, state.Draft{Task: it.o.task, Due: it.o.due})
		}
	}
	added := in.changes(in.store).AddAll(ctx, drafts)
	done := make([]scheduled, len(batch))
	some := false
	for i := range batch {
		if it := &batch[i]; it.err == nil {
			done[i], it.err = in.settle(ctx, in.st, it.o, added[0].Entry, added[0].Err)
			added = added[1:]
			some = some || it.err == nil
		}
	}
	var h hands
	if some {
		h = in.runner.see(ctx)
	}
	for i, it := range batch {
		if ctx.Err() != nil && errors.Is(it.err, ctx.Err()) {
			continue // neither scheduled nor refused: the call ends here
		}
		if it.err != nil {
			in.refuse(it)
		} else {
			in.answer(it.line, done[i], h)
		}
	}
	if err := in.flush(); err != nil {
		f := *explain(err)
		f.message = "the lines up to " + fmt.Sprint(batch[len(batch)-1].line) + " were taken, but " + f.message
		return &f
	}
	return ctx.Err()
}

// atLineJSON is the answer of at --stdin to a line that was scheduled.
type atLineJSON struct {
	Line int `json:"line"`
	atJSON
}

// answer tells what became of a line.
func (in *stdin) answer(line int, d scheduled, h hands) {
	switch {
	case d.created:
		in.counts.created++
	case d.replaced:
		in.counts.replaced++
	default:
		in.counts.kept++
	}
	d.dry = in.dry
	d.see(h, in.audienceOf(d.entry.Task))
	d.warnings = append(d.warnings, in.unreadyOnce(d, h)...)
	d.warnings = append(d.warnings, in.remote...)
	if in.json {
		in.emit(atLineJSON{line, d.json(h)})
		return
	}
	switch {
	case in.cli.Bool("quiet") && d.entry.Task.ID == "":
	case in.cli.Bool("quiet"):
		in.session.line("%s", d.entry.Task.ID)
	default:
		in.session.line("%s", d.sentence())
		if text := d.different(); text != "" {
			in.talk("line %d: %s", line, visible(text))
		}
		for _, note := range d.notes() {
			in.talk("note: line %d: %s", line, visible(note))
		}
	}
	for _, w := range d.warnings {
		if in.cli.Bool("quiet") && standingWarning(w) {
			continue
		}
		if standingWarning(w) || h.runner == runnerNone && w == h.sentence() { // of all lines alike
			if !in.warned[w] {
				in.warned[w] = true
				in.warn("warning: %s", visible(w))
			}
			continue
		}
		if in.cli.Bool("quiet") {
			in.collect(line, w)
			continue
		}
		in.warn("warning: line %d: %s", line, visible(w))
	}
}

// unreadyOnce is what speaks against the channels of a task, of the first task that has them.
func (in *stdin) unreadyOnce(d scheduled, h hands) []string {
	names := strings.Join(d.told.channels, "\x00")
	if in.warned[names] || !d.created && !d.replaced {
		return nil
	}
	in.warned[names] = true
	return in.unready(d.told, h)
}

// lineFailedJSON is the answer of at --stdin to a line that was refused.
type lineFailedJSON struct {
	Now   time.Time `json:"now"`
	Line  int       `json:"line"`
	Error errorJSON `json:"error"`
}

// refuse tells why a line was not scheduled.
func (in *stdin) refuse(it item) {
	f := explain(it.err)
	in.counts.failed++
	in.worst = max(in.worst, f.exit)
	if in.json {
		in.emit(lineFailedJSON{in.stamp(), it.line, asErrorJSON(f)})
		return
	}
	in.aside("ouro-timer: line %d: %s\n", it.line, visible(f.message))
	if f.hint != "" {
		in.aside("hint: %s\n", visible(f.hint))
	}
}

// sum says in one sentence what came of all lines.
func (in *stdin) sum() {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{in.counts.created, "scheduled"}, {in.counts.kept, "kept"}, {in.counts.replaced, "replaced"}, {in.counts.failed, "refused"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		in.talk("There was no line to schedule.")
		return
	}
	front := ""
	if in.dry {
		front = "dry run: "
	}
	in.talk(front+"%s. %s", plural(in.counts.created+in.counts.kept+in.counts.replaced+in.counts.failed, "line")+": "+strings.Join(parts, ", "), in.runner.h.who())
}
