// Package queue runs jobs on Postgres: at most one execution holds a job's lease at a time, nothing outside is
// done twice, and nothing is lost without a visible row saying why. docs/design.md shows where it stands,
// model/README.md which code keeps which rule.
//
// Its tables: job_kinds, jobs, job_keys, job_history, job_attempts, job_archive, effects, workers, schedules,
// schedule_runs. Nobody else writes them.
//
// The rules that it keeps, and that its tests attack:
//
//   - R1: a lease is a deadline on the database's clock and a token from one sequence, new at every claim. Every
//     later write names the token; no row affected means that the lease is lost, and the execution stops.
//   - R2: no outside effect without a committed intent. Inserting it locks the job row, requires the token and
//     an unexpired lease, and extends the lease past the request's deadline.
//   - R3: the reaper locks expired rows first and looks at the ledger in a later statement, hence a new snapshot.
//   - R4: an expired job with an intent without outcome goes to the archive; another one is returned to the
//     queue once, and archived the second time.
//   - R5: effects inside this database need no ledger; they commit with the completion.
//   - R6: children are enqueued only in the transaction that completes their parent.
//
// People first: while a critical job of this process is young (250 ms), announced or just over, each lower tier narrows to one
// job, and one more every 50 ms (gate.go). What runs already goes on, and nothing starves.
//
// It must never know what a job is about (Telegram, feeds, posts), never make an outside call with a
// transaction open, and never call anything outside again whose outcome is not certain.
package queue
