// Package sources turns addresses into items: it reads what a person pastes,
// polls what channels follow, and decides which entries are new. Two promises
// hold: an entry is never taken twice, and one that truly is new is never lost.
//
// Its tables, of which it is the only writer: sources, source_aliases, items,
// item_keys, polls, hosts. It must never reach the web but through
// internal/fetch, hold a transaction open while it does, look for another feed
// in the background, or forget a key.
package sources
