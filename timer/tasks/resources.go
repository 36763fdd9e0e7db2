package tasks

import (
	"cmp"
	"runtime"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

const (
	minNice, maxNice = -20, 19 // as in setpriority(2)

	minMemory = int64(1) << 20 // less than any program needs
	maxMemory = int64(1) << 50
	maxCPU    = 100_000 // percent
)

// resources sets what the command may use of the machine.
func (c *Change) resources() (err error) {
	p := &c.Task.Policy
	if c.Nice != nil {
		if p.Nice = *c.Nice; p.Nice < minNice || p.Nice > maxNice {
			return problem.Of(problem.T("%s is %d", problem.Option("nice"), p.Nice), problem.T("give %d to %d: %s yields to others", minNice, maxNice, problem.Set("nice", 10)))
		}
	}
	if c.IONice != nil {
		p.IONice = strings.TrimSpace(*c.IONice)
		priority, err := proc.ParseIOPriority(cmp.Or(p.IONice, "none"))
		if err != nil {
			return problem.Of(problem.T("%s is not a priority at the disks: %v", problem.Set("ionice", *c.IONice), err), problem.T("such as %s, %s or none", problem.Set("ionice", "idle"), problem.Set("ionice", "best-effort:7")))
		}
		if priority == 0 {
			p.IONice = ""
		}
	}
	if c.Memory != nil {
		if p.Memory, err = memoryOf(*c.Memory); err != nil {
			return err
		}
	}
	if c.CPU != nil {
		if p.CPU, err = shareOf(*c.CPU); err != nil {
			return err
		}
	}
	if runtime.GOOS == "linux" {
		return nil
	}
	for _, row := range []struct {
		name problem.Option
		set  bool
	}{{"nice", p.Nice != 0}, {"ionice", p.IONice != ""}, {"memory", p.Memory > 0}, {"cpu", p.CPU > 0}} {
		if row.set {
			return problem.Of(problem.T("%s needs Linux", row.name), problem.T("leave it out"))
		}
	}
	return nil
}

// memoryOf reads a number of bytes. K, M, G and T are KiB, MiB, GiB and TiB, as for systemd and
// containers.
func memoryOf(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "0" {
		return 0, nil
	}
	long := text
	if strings.ContainsRune("KMGTkmgt", rune(text[len(text)-1])) {
		long += "iB"
	}
	n, err := state.ParseSize(long)
	if err != nil {
		return 0, problem.Of(problem.T("%s is not a size", problem.Set("memory", text)), problem.T("such as %s or %s", problem.Set("memory", "512M"), problem.Set("memory", "2G")))
	}
	if n < minMemory || n > maxMemory {
		return 0, problem.Of(problem.T("%s is not from 1M to 1024T", problem.Set("memory", text)), problem.T("such as %s; %s means no limit", problem.Set("memory", "512M"), problem.Set("memory", "0")))
	}
	return n, nil
}

// shareOf reads a share of the processors: 150%, or 1.5.
func shareOf(text string) (int, error) {
	if strings.TrimSpace(text) == "" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	n, err := strconv.ParseFloat(number, 64)
	if !percent {
		n *= 100
	}
	if err != nil || strings.Trim(number, "0123456789.") != "" {
		return 0, problem.Of(problem.T("%s is not a share of the processors", problem.Set("cpu", text)), problem.T("such as %s or %s, which is one and a half", problem.Set("cpu", "50%"), problem.Set("cpu", "1.5")))
	}
	if n != 0 && n < 1 || n > maxCPU {
		return 0, problem.Of(problem.T("%s is not from 1%% to %d%%", problem.Set("cpu", text), maxCPU), problem.T("such as %s; %s means no limit", problem.Set("cpu", "50%"), problem.Set("cpu", "0")))
	}
	return int(n), nil
}

// SizeText writes a number of bytes as memoryOf reads it, in the short form if there is one.
func SizeText(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}} {
		if n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
