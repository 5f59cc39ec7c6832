// Package restore keeps the promise "nothing twice" over a backup. A database
// that was restored has forgotten what was posted after the backup was made,
// and would post it again. So each database carries a mark by which it is
// recognised; when the mark does not fit, every channel is held: nothing is
// published in it until its posts were read and compared with the drafts.
//
// What a restore begins, in one transaction: every channel is held, queued jobs
// with outside effects go to the archive, sources take their next document as a
// baseline. What a look at a channel does, in one transaction: a draft whose
// post is there becomes published; one whose link stands in a post becomes
// skipped as a duplicate; a scheduled one whose time has passed, or any
// scheduled one where not every post could be read, returns to its owner. A
// channel that was read whole is then released; another one waits for a person.
//
// Its tables: database_marks, restores, restore_holds. It must never publish,
// and never release a channel because nothing was found.
package restore
