/* Lease, intent, reaper and crash, checked exhaustively by spin (check.sh).
 *
 * One job with one outside effect; WORKERS processes that may die or freeze between any two steps (a frozen one
 * is one that is not scheduled for a while; a dead one forgets everything and starts anew); a clock that may let
 * a lease expire at any time; a network that may run a request late, also after its sender died; a reaper.
 * Each `atomic` is one committed transaction. README.md maps it to the code. Mutations, one rule each:
 *   NO_R1 later writes do not name the token     NO_R2  the intent asks for no lease
 *   NO_R3 the reaper judges by an old snapshot   NO_R4  an expired job with an open intent is returned
 *   NO_R4B it may be returned again and again    NO_KEY the ledger grants an intent that exists
 *   NO_TX the move to the archive is two transactions
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#define MAX_CLAIMS 4

mtype = { ready, leased, over };                    /* jobs.state; over: the row is gone */
mtype = { none, intent, done, not_done, unknown };  /* effects.state */

mtype job = ready;
mtype effect = none;
byte token = 0;         /* jobs.lease_token: new at every claim (R1) */
byte owner = 0;         /* effects.lease_token */
bool expired = false;   /* lease_until < clock_timestamp() */
byte expiries = 0;
bool in_jobs = true, in_history = false, in_archive = false;

/* Ghosts: what really happened. */
byte performed = 0;     /* how often the world did it */
byte pending = 0;       /* requests on their way */
byte current = 0;       /* the execution that holds an unexpired lease and has not stopped */
bool overlap = false;   /* a job was claimed while another execution held it */

#ifdef NO_R1
#define MINE(t) (job == leased)
#else
#define MINE(t) (job == leased && token == t)
#endif
#ifdef NO_R2
#define HELD(t) true
#else
#define HELD(t) (MINE(t) && !expired)
#endif
#ifdef NO_KEY
#define FREE true
#else
#define FREE (effect == none || effect == not_done)
#endif

inline leave()  { if :: current == mine -> current = 0 :: else -> skip fi }
inline gone()   { job = over; in_jobs = false }
inline crash()  { if :: true -> skip :: true -> atomic { leave(); goto again } fi }

proctype worker() {
  byte mine = 0;
  mtype answer = none;
  bool granted = false;
again:
  atomic {                                         /* jobClaimSQL */
    mine = 0; answer = none; granted = false;
    if
    :: job == ready && token < MAX_CLAIMS ->
       if :: current != 0 -> overlap = true :: else -> skip fi;
       token++; mine = token; job = leased; expired = false; current = mine
    :: job == over || token == MAX_CLAIMS -> goto stop
    fi
  }
  crash();                                         /* claim-committed, handler-start */
  if
  :: atomic { MINE(mine) -> leave(); job = ready; goto again }   /* jobRetryIfLeasedSQL: a transient failure */
  :: skip
  fi;
  atomic {                                         /* effectIntendIfLeasedSQL */
    if
    :: HELD(mine) && FREE -> effect = intent; owner = mine; granted = true
    :: else -> answer = effect                     /* effectFindSQL */
    fi
  }
  if
  :: granted -> skip
  :: !granted && answer == done -> goto complete   /* Prior: no call */
  :: !granted && answer == unknown -> goto doubt
  :: else -> atomic { leave(); goto again }        /* the lease is lost, or somebody performs: stop */
  fi;
  answer = none;
  crash();                                         /* intent-committed, before-request */
  if
  :: answer = not_done                             /* a certain refusal */
  :: atomic { pending++; answer = unknown }        /* the request is written */
  fi;
  crash();                                         /* request-written */
  if
  :: atomic { answer == unknown && pending > 0 -> pending--; performed++; answer = done }
  :: skip                                          /* no answer, or the refusal */
  fi;
  crash();                                         /* answer-read */
  atomic {                                         /* effectSettleIfOwnSQL, and the job's end with it */
    if
    :: owner == mine && (effect == intent || effect == unknown) -> effect = answer
    :: else -> skip
    fi;
    if
    :: MINE(mine) && answer == done -> gone(); in_history = true
    :: MINE(mine) && answer == done -> goto complete /* or in a transaction of its own, which a crash may forestall */
    :: MINE(mine) && answer == unknown -> gone(); in_archive = true
    :: MINE(mine) && answer == not_done -> job = ready
    :: else -> skip
    fi;
    leave(); goto again
  }
complete:
  crash();                                         /* ack-commit */
  atomic {                                         /* jobCompleteIfLeasedSQL */
    if :: MINE(mine) -> gone(); in_history = true :: else -> skip fi;
    leave(); goto again
  }
doubt:
  atomic {                                         /* jobArchiveIfLeasedSQL */
    if :: MINE(mine) -> gone(); in_archive = true :: else -> skip fi;
    leave(); goto again
  }
stop:
  skip
}

proctype clock() {
end:
  do
  :: atomic { job == leased && !expired -> expired = true; current = 0 }
  :: atomic { job == over -> break }
  od
}

proctype network() {
end:
  do
  :: atomic { pending > 0 -> pending--; performed++ }
  :: atomic { pending > 0 -> pending-- }           /* lost on the way */
  od
}

/* jobExpiredLockSQL, then jobReapIfExpiredSQL. The lock keeps intents out (R2 needs the row), so both are one
 * step here, and the ledger is read after the lock. NO_R3 reads it before, as one statement's snapshot does. */
proctype reaper() {
  mtype seen = none;
end:
  do
  :: job == over -> break
  :: job == leased && expired ->
#ifdef NO_R3
     seen = effect;
#endif
     atomic {
       if
       :: job == leased && expired ->
#ifndef NO_R3
          seen = effect;
#endif
#ifdef NO_R4
          if
          :: false -> skip
#else
          if
          :: seen == intent || seen == unknown ->
             if :: effect == intent -> effect = unknown :: else -> skip fi;
             gone(); in_archive = true
#endif
          :: else ->
             if
#ifdef NO_R4B
             :: true -> job = ready; expiries++
#else
             :: expiries == 0 -> job = ready; expiries++
             :: else -> gone();
#ifdef NO_TX
                goto halfway;
#endif
                in_archive = true
#endif
             fi
          fi
       :: else -> skip
       fi;
       seen = none
     }
  od;
  goto stop;
halfway:
  in_archive = true;
stop:
  skip
}

init {
  byte i;
  atomic { for (i : 1 .. WORKERS) { run worker() } run clock(); run network(); run reaper() }
}

ltl once     { [] (performed <= 1) }                                     /* no effect twice */
ltl kept     { [] (in_jobs + in_history + in_archive == 1) }             /* no job lost, none in two places */
ltl alone    { [] (!overlap) }                                           /* one execution holds the job */
ltl returned { [] (expiries <= 1) }                                      /* returned once only */
ltl honest   { [] ((effect != done || performed == 1) && (effect != not_done || performed == 0)) }
ltl truthful { [] (!in_history || effect == done) }                      /* completed means done */
ltl visible  { [] (!in_archive || effect != intent) }                    /* no doubt without a visible row */
