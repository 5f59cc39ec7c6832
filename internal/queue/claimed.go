package queue

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

const claimedColumns = `
          id,
          lease_token,
          run_at,
          claimed_at,
          failures,
          expiries,
          generation,
          kind,
          key,
          payload,
          parent_id,
          update_id,
          person_id,
          ordering,
          request_id`

// claimed makes runs of the rows of a claim.
type claimed struct {
	lane   *lane
	binary bool  // numbers and times come in binary; a pooler's mode may want text
	block  []run // runs are allocated in blocks: a claim brings many
}

const runBlock = 16 // small, as one long job keeps its block alive

func (l *lane) collect(rows pgx.Rows) ([]*run, error) {
	defer rows.Close()
	c := claimed{lane: l, binary: numbersInBinary(rows)}
	var runs []*run
	for rows.Next() {
		r := c.next()
		if c.binary {
			r.decode(rows.RawValues())
		} else if err := r.scan(rows); err != nil {
			return nil, err
		}
		r.ctx.origin = r.origin
		r.ctx.origin.JobID = r.id
		runs = append(runs, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	l.hold(runs)
	slices.SortFunc(runs, func(a, b *run) int { return cmp.Or(a.runAt.Compare(b.runAt), cmp.Compare(a.id, b.id)) })
	return runs, nil
}

func (c *claimed) next() *run {
	if len(c.block) == cap(c.block) {
		c.block = make([]run, 0, runBlock)
	}
	c.block = c.block[:len(c.block)+1]
	r := &c.block[len(c.block)-1]
	r.engine, r.lane, r.ctx.parent = c.lane.engine, c.lane, c.lane.engine.workContext
	return r
}

func numbersInBinary(rows pgx.Rows) bool {
	for _, f := range rows.FieldDescriptions() {
		switch f.DataTypeOID {
		case pgtype.Int8OID, pgtype.Int2OID, pgtype.TimestamptzOID:
			if f.Format != pgtype.BinaryFormatCode {
				return false
			}
		}
	}
	return true
}

// decode reads claimedColumns. pgx's Scan does the same for three times the cost, which is felt here alone.
func (r *run) decode(v [][]byte) {
	r.id, r.token = number(v[0]), number(v[1])
	r.runAt, r.claimedAt = instantOf(v[2]), instantOf(v[3])
	r.failures, r.expiries, r.generation = int(number(v[4])), int(number(v[5])), int(number(v[6]))
	if r.spec = r.engine.kinds[string(v[7])]; r.spec != nil {
		r.kind = r.spec.name
	} else {
		r.kind = string(v[7])
	}
	r.key, r.payload = string(v[8]), slices.Clone(v[9])
	r.ordering = string(v[13])
	r.origin = Origin{JobID: number(v[10]), UpdateID: number(v[11]), PersonID: number(v[12]), RequestID: string(v[14])}
}

// number reads a big-endian integer of 2 or 8 bytes; NULL is 0.
func number(b []byte) int64 {
	switch len(b) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b))) //nolint:gosec // two's complement
	case 8:
		return int64(binary.BigEndian.Uint64(b)) //nolint:gosec // two's complement
	}
	return 0
}

// postgresEpoch is 2000-01-01 in Unix microseconds.
const postgresEpoch = 946684800_000_000

func instantOf(b []byte) time.Time { return time.UnixMicro(postgresEpoch + number(b)) }

func (r *run) scan(rows pgx.Rows) error {
	var (
		ordering, request      *string
		parent, update, person *int64
	)
	err := rows.Scan(&r.id, &r.token, &r.runAt, &r.claimedAt, &r.failures, &r.expiries, &r.generation, &r.kind, &r.key,
		&r.payload, &parent, &update, &person, &ordering, &request)
	if err != nil {
		return err
	}
	r.spec = r.engine.kinds[r.kind]
	r.ordering = deref(ordering)
	r.origin = Origin{JobID: deref(parent), UpdateID: deref(update), PersonID: deref(person), RequestID: deref(request)}
	return nil
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
