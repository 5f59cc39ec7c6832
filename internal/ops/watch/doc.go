// Package watch looks after the program from the inside: it reads what the
// alert rules of docs/deploy/alerts.yml look at, offers it as metrics, and
// tells the operators in the chat once when an incident starts and once when
// it ends.
//
// Its tables: incidents, watch_samples. It must never change anything else,
// count a deep backlog exactly, or send anything itself: notices are handed
// over in the transaction that records the incident.
package watch
