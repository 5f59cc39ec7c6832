package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-telegram/bot/models"
)

// errTooLarge means that an answer or a file exceeds what its reader takes.
var errTooLarge = errors.New("it is too large")

// Download reads a file that a person sent, up to limit bytes. The Bot API
// gives files of up to 20 MB (core.telegram.org/bots/api#getfile). Errors never
// hold the address, as that holds the token.
func (c *Client) Download(ctx context.Context, fileID string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	f, out := call[models.File](ctx, c, "getFile", map[string]any{"file_id": fileID})
	if err := AsError(out); err != nil {
		return nil, err
	}
	if f == nil || f.FilePath == "" {
		return nil, errors.New("telegram: getFile: no path")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.baseURL+"/file/bot"+string(c.token)+"/"+f.FilePath, nil)
	if err != nil {
		return nil, fmt.Errorf("telegram: download: %w", c.clean(err))
	}
	resp, err := c.pooled.Do(req)
	if err != nil {
		return nil, fmt.Errorf("telegram: download: %w", c.clean(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("telegram: download: status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("telegram: download: %w", c.clean(err))
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("telegram: download: %w", errTooLarge)
	}
	return body, nil
}
