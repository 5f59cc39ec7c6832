// Package migrations embeds the schema: NNNN_name.sql, forward only, each
// opening with why it exists. internal/postgres runs them.
package migrations

import "embed"

// FS holds every migration, named so that their order is their version.
//
//go:embed *.sql
var FS embed.FS
