package health

import "context"

// task asks how a task of ours stands. It is healthy when it has ended well.
func (p *prober) task(ctx context.Context, id string) error {
	if p.Tasks == nil {
		return &fault{text: "tasks cannot be looked at here", permanent: true, unseen: true, rank: wrong}
	}
	s, err := p.Tasks.Outcome(ctx, id)
	switch {
	case ctx.Err() != nil:
		return explain(ctx.Err(), answering)
	case err != nil:
		return &fault{text: printable(err.Error()), rank: broken}
	case !s.Known:
		return &fault{text: "no such task", permanent: true, unseen: true, rank: wrong}
	case !s.Ended:
		return &fault{text: "has not ended", rank: broken}
	case !s.OK && s.How == "":
		return &fault{text: "has failed", permanent: true, rank: wrong}
	case !s.OK:
		return &fault{text: printable(s.How), permanent: true, rank: wrong}
	}
	return nil
}
