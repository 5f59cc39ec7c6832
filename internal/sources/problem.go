package sources

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/discover"
	"github.com/postonce/postonce/internal/sources/opml"
	"github.com/postonce/postonce/internal/sources/preview"
)

// Problem is why an address cannot be read. Code is stable: texts in other
// languages, metrics and the column error_code hang on it. Detail is for logs
// and for the second line, redacted.
type Problem struct {
	Code       string
	Detail     string
	RetryAfter time.Duration // the server's own wish, 0 = none
	Local      bool          // the fault may be our network's
	Status     int           // of HTTP, 0 = no answer
}

// Codes beside those of fetch and decode.
const (
	CodeNothing         = "no_address"
	CodeScheme          = "bad_scheme"
	CodeTelegramPrivate = "telegram_private"
	CodeTelegramName    = "telegram_name"
	CodePreviewOff      = "preview_off"
	CodeNoFeed          = "no_feed"
	CodeNotFound        = "not_found"
	CodeGone            = "gone"
	CodeForbidden       = "forbidden"
	CodeRateLimited     = "rate_limited"
	CodeServer          = "server_error"
	CodeStatus          = "unexpected_status"
	CodeCutBody         = "cut_body"
	CodeClosed          = "closed_platform"
	CodePodcast         = "podcast_without_feed"
	CodeNoChannel       = "no_channel"
	CodeNoFeedPage      = "page_without_feed"
)

func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Code
	}
	return p.Code + ": " + p.Detail
}

// problemOf gives any error of this package's parts its code.
func problemOf(err error) *Problem {
	var p *Problem
	var f *fetch.Error
	var d *decode.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &f):
		return &Problem{Code: string(f.Code), Detail: f.Error(), Local: f.Local()}
	case errors.As(err, &d):
		return &Problem{Code: string(d.Code), Detail: d.Detail}
	case errors.Is(err, address.ErrNothing):
		return &Problem{Code: CodeNothing}
	case errors.Is(err, address.ErrScheme):
		return &Problem{Code: CodeScheme}
	case errors.Is(err, address.ErrTelegramPrivate):
		return &Problem{Code: CodeTelegramPrivate}
	case errors.Is(err, address.ErrTelegramName):
		return &Problem{Code: CodeTelegramName}
	case errors.Is(err, address.ErrClosed):
		return &Problem{Code: CodeClosed}
	case errors.Is(err, address.ErrPodcast):
		return &Problem{Code: CodePodcast}
	case errors.Is(err, address.ErrNoChannel):
		return &Problem{Code: CodeNoChannel}
	case errors.Is(err, address.ErrPage):
		return &Problem{Code: CodeNoFeedPage}
	case errors.Is(err, preview.ErrOff):
		return &Problem{Code: CodePreviewOff}
	case errors.Is(err, opml.ErrNotOPML):
		return &Problem{Code: string(decode.CodeNotAFeed)}
	case errors.Is(err, discover.ErrNoSitemap):
		return &Problem{Code: CodeNoFeed}
	}
	return &Problem{Code: string(fetch.CodeConnection), Detail: err.Error()}
}

// statusProblem judges an HTTP status; nil for 200 and 304. Reddit answers
// 403 where it means 429.
func statusProblem(resp *fetch.Response, kind address.Kind, now time.Time) *Problem {
	p := &Problem{Status: resp.Status, Detail: fmt.Sprintf("HTTP %d", resp.Status)}
	switch s := resp.Status; {
	case s == http.StatusOK, s == http.StatusNotModified, s == http.StatusNonAuthoritativeInfo:
		return nil
	case s == http.StatusTooManyRequests, s == http.StatusForbidden && kind == address.Reddit:
		p.Code = CodeRateLimited
	case s == http.StatusNotFound:
		p.Code = CodeNotFound
	case s == http.StatusGone:
		p.Code = CodeGone
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusUnavailableForLegalReasons, s == http.StatusPaymentRequired:
		p.Code = CodeForbidden
	case s >= 500:
		p.Code = CodeServer
	default:
		p.Code = CodeStatus
	}
	if p.Code == CodeRateLimited || p.Code == CodeServer {
		p.RetryAfter = fetch.RetryAfter(resp.Header, now)
	}
	return p
}

// Sentence says in English what is wrong and what to do. The chat has the same
// in its languages, by code.
func (p *Problem) Sentence() string {
	switch p.Code {
	case CodeNothing:
		return "There is no address in this text: paste a link, or a channel as @name."
	case CodeScheme, string(fetch.CodeBadAddress):
		return "Only web addresses (http and https) and Telegram channels can be read."
	case CodeTelegramPrivate:
		return "A private Telegram channel cannot be read from outside: forward its posts to me instead."
	case CodeTelegramName:
		return "No Telegram channel can have this name: check the spelling."
	case CodePreviewOff:
		return "This Telegram channel shows no public preview: forward its posts to me instead."
	case string(decode.CodeHTML):
		return "The site answers with a web page instead of a feed: that may pass; else look there for the feed's new address."
	case CodeNoFeed:
		return "This page names no feed, and no list of articles was found on it: try the address of its news or blog page."
	case CodeClosed:
		return "This platform shows its posts to no program: paste the author's own site or Telegram channel instead."
	case CodePodcast:
		return "This player gives no feed of its podcasts: paste the podcast's own site, or its page on Apple Podcasts."
	case CodeNoChannel:
		return "No channel or public playlist of YouTube was found there: paste the channel's page, or one of its videos."
	case CodeNoFeedPage:
		return "This page has no feed of its own: paste the page of one author, channel, repository or topic instead."
	case CodeNotFound:
		return "There is nothing at this address (404): check it, or paste the site's front page."
	case CodeGone:
		return "This address was given up by its owner (410): look for a new one on the site."
	case CodeForbidden:
		return "The site does not let programs read this address: look for another one with the same news."
	case CodeRateLimited:
		return "The site asks for fewer requests: it can be read again later."
	case CodeServer:
		return "The site has an error of its own (5xx): it can be read again when that is mended."
	case string(fetch.CodePrivate), string(fetch.CodePort):
		return "This address lies inside a private network or on an unusual port, and is not read: whoever runs the bot can allow networks with FETCH_ALLOW_NETS."
	case string(fetch.CodeNoHost):
		return "There is no site of this name: check the spelling."
	case string(fetch.CodeDNS), string(fetch.CodeUnreachable), string(fetch.CodeRefused), string(fetch.CodeConnection), string(fetch.CodeTimeout):
		return "The site does not answer: check the address, or wait until the site is up again."
	case string(fetch.CodeTLS):
		return "The site's certificate is not valid: its owner has to renew it, or look for another address."
	case string(fetch.CodeTooLarge):
		return "The answer is larger than 5 MB: look for a smaller feed of the same site."
	case string(fetch.CodeLoop), string(fetch.CodeTooManyHops):
		return "The address leads from one redirect to the next: paste the final one."
	case string(decode.CodeEmpty):
		return "The site answers with an empty page: try the address of its news or blog page."
	case CodeStatus:
		return "The site answers with an unusual status instead of a feed: look at the address in a browser."
	case string(fetch.CodeEncoding):
		return "The answer is packed in a way that was not asked for: the site's owner has to mend its server."
	case string(decode.CodeTooDeep), string(decode.CodeTooComplex), string(decode.CodeTimeout):
		return "This document is built to be unreadable, and is not read."
	case string(decode.CodeBridge):
		return "The generator of this feed reports an error of its own instead of entries: look into its settings."
	case string(decode.CodeJSONError):
		return "The site answers with an error message instead of a feed: check the address."
	case string(decode.CodeCut), CodeCutBody:
		return "The answer broke off in the middle: it can be read again at once."
	case string(decode.CodeOPML):
		return "This is a list of feeds: use /import."
	}
	return "This address cannot be read as a feed: paste the site's front page, or look for its feed."
}
