package channels

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Change is a change of a channel's settings: what is nil stays.
type Change struct {
	Language         *string              `json:"language,omitempty"`
	ItemLanguages    *[]string            `json:"item_languages,omitempty"`
	Tone             *[]string            `json:"tone,omitempty"`
	LookFor          *string              `json:"look_for,omitempty"`
	Avoid            *string              `json:"avoid,omitempty"`
	Threshold        *int                 `json:"threshold,omitempty"`
	Footer           *string              `json:"footer,omitempty"`
	LinkStyle        *string              `json:"link_style,omitempty"`
	ImageStyle       *string              `json:"image_style,omitempty"`
	Hashtags         *[]string            `json:"hashtags,omitempty"`
	TimeZone         *string              `json:"time_zone,omitempty"`
	Week             *editorial.Week      `json:"week,omitempty"`
	Quiet            *editorial.Quiet     `json:"quiet,omitempty"`
	DailyCap         *int                 `json:"daily_cap,omitempty"`
	Missed           *string              `json:"missed,omitempty"`
	Autopilot        *editorial.Autopilot `json:"autopilot,omitempty"`
	AutopilotMinutes *int                 `json:"autopilot_minutes,omitempty"`
	AutopilotScore   *int                 `json:"autopilot_score,omitempty"`
	AutopilotSources *[]int64             `json:"autopilot_sources,omitempty"`
	Digest           *string              `json:"digest,omitempty"`
	DigestAt         *editorial.Clock     `json:"digest_at,omitempty"`
	// IfVersion makes the change conditional: ErrChanged unless the settings still have this version.
	IfVersion *int `json:"-"`
}

const channelUpdateSQL = `
UPDATE channels
   SET language = coalesce($2, language),
       tone = coalesce($3, tone),
       look_for = coalesce($4, look_for),
       avoid = coalesce($5, avoid),
       threshold = coalesce($6, threshold),
       footer = coalesce($7, footer),
       link_style = coalesce($8, link_style),
       image_style = coalesce($9, image_style),
       hashtags = coalesce($10, hashtags),
       time_zone = coalesce($11, time_zone),
       week = coalesce($12, week),
       quiet_from = coalesce($13, quiet_from),
       quiet_to = coalesce($14, quiet_to),
       daily_cap = coalesce($15, daily_cap),
       missed = coalesce($16, missed),
       autopilot = coalesce($17, autopilot),
       autopilot_minutes = coalesce($18, autopilot_minutes),
       autopilot_score = coalesce($19, autopilot_score),
       autopilot_sources = coalesce($20, autopilot_sources),
       digest = coalesce($21, digest),
       digest_at = coalesce($22, digest_at),
       item_languages = coalesce($24, item_languages),
       -- what its owner empties is not learned back from older posts
       voice = voice || jsonb_build_object('forgotten', coalesce(voice->'forgotten', '[]')
            || CASE WHEN $7 = '' AND NOT voice @> '{"forgotten": ["footer"]}' THEN '["footer"]'::jsonb ELSE '[]' END
            || CASE WHEN $10 = '{}' AND NOT voice @> '{"forgotten": ["hashtags"]}' THEN '["hashtags"]'::jsonb ELSE '[]' END),
       version = version + 1
 WHERE id = $1
   AND version = coalesce($23::int, version)
RETURNING id`

// Update changes settings; an *InvalidError names the first one that cannot be.
func (s *Service) Update(ctx context.Context, tx pgx.Tx, id int64, ch Change) error {
	if err := ch.Check(); err != nil {
		return err
	}
	var quietFrom, quietTo, digestAt *string
	if ch.Quiet != nil {
		from, to := "", ""
		if ch.Quiet.From != ch.Quiet.To {
			from, to = ch.Quiet.From.String(), ch.Quiet.To.String()
		}
		quietFrom, quietTo = &from, &to
	}
	if ch.DigestAt != nil {
		at := ch.DigestAt.String()
		digestAt = &at
	}
	ok, err := postgres.Affected(ctx, tx, channelUpdateSQL, id, ch.Language, ch.Tone, ch.LookFor, ch.Avoid, ch.Threshold,
		ch.Footer, ch.LinkStyle, ch.ImageStyle, ch.Hashtags, ch.TimeZone, ch.Week, quietFrom, quietTo,
		ch.DailyCap, ch.Missed, ch.Autopilot, ch.AutopilotMinutes, ch.AutopilotScore, ch.AutopilotSources,
		ch.Digest, digestAt, ch.IfVersion, ch.ItemLanguages)
	if err != nil {
		return fmt.Errorf("update channel %d: %w", id, err)
	}
	switch {
	case !ok && ch.IfVersion != nil:
		return ErrChanged // a channel that is not there has no version either
	case !ok:
		return ErrNotFound
	}
	return nil
}

// Bounds of what people may write into a setting, texts in characters; a week may hold a slot every half hour.
const (
	maxTone    = 20
	maxLine    = 300
	maxTopics  = 2000
	maxFooter  = 400
	maxTags    = 50
	maxPerDay  = 48
	maxDayCap  = 100
	minMinutes = 5
	maxMinutes = 24 * 60
)

// Check returns an *InvalidError for the first setting that cannot be.
func (ch *Change) Check() error {
	return firstOf(
		oneOf("link_style", ch.LinkStyle, "title", "bottom", "none"),
		oneOf("image_style", ch.ImageStyle, "preview", "photo", "none"),
		oneOf("missed", ch.Missed, "move", "skip"),
		oneOf("digest", ch.Digest, "off", "daily", "weekly"),
		oneOf("autopilot", (*string)(ch.Autopilot), "off", "delay", "score"),
		between("threshold", ch.Threshold, 0, 100),
		between("daily_cap", ch.DailyCap, 0, maxDayCap),
		between("autopilot_minutes", ch.AutopilotMinutes, minMinutes, maxMinutes),
		between("autopilot_score", ch.AutopilotScore, 0, 100),
		noLongerThan("look_for", ch.LookFor, maxTopics),
		noLongerThan("avoid", ch.Avoid, maxTopics),
		noLongerThan("footer", ch.Footer, maxFooter),
		lines("tone", ch.Tone, maxTone, nil),
		lines("item_languages", ch.ItemLanguages, maxTone, regexp.MustCompile(`^[a-z]{2,3}$`)),
		lines("hashtags", ch.Hashtags, maxTags, regexp.MustCompile(`^#?[\p{L}\p{N}_]{1,64}$`)),
		language(ch.Language),
		zone(ch.TimeZone),
		week(ch.Week),
		clock("digest_at", ch.DigestAt),
		quiet(ch.Quiet),
	)
}

func firstOf(errs ...*InvalidError) error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}

func oneOf(field string, v *string, allowed ...string) *InvalidError {
	if v == nil {
		return nil
	}
	if slices.Contains(allowed, *v) {
		return nil
	}
	return &InvalidError{field, *v}
}

func between(field string, v *int, low, high int) *InvalidError {
	if v == nil || (*v >= low && *v <= high) {
		return nil
	}
	return &InvalidError{field, strconv.Itoa(*v)}
}

func noLongerThan(field string, v *string, runes int) *InvalidError {
	if v == nil || utf8.RuneCountInString(*v) <= runes {
		return nil
	}
	return &InvalidError{field, "…"}
}

func lines(field string, v *[]string, most int, shape *regexp.Regexp) *InvalidError {
	if v == nil {
		return nil
	}
	if len(*v) > most {
		return &InvalidError{field, strconv.Itoa(len(*v))}
	}
	for _, l := range *v {
		if strings.TrimSpace(l) == "" || utf8.RuneCountInString(l) > maxLine || (shape != nil && !shape.MatchString(l)) {
			return &InvalidError{field, l}
		}
	}
	return nil
}

func language(v *string) *InvalidError {
	if v == nil || regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`).MatchString(*v) {
		return nil
	}
	return &InvalidError{"language", *v}
}

func zone(v *string) *InvalidError {
	if v == nil {
		return nil
	}
	// "" and "Local" load as well, and mean another place on every machine.
	if _, err := time.LoadLocation(*v); err != nil || *v == "" || *v == "Local" {
		return &InvalidError{"time_zone", *v}
	}
	return nil
}

func week(v *editorial.Week) *InvalidError {
	if v == nil {
		return nil
	}
	for _, day := range v {
		if len(day) > maxPerDay {
			return &InvalidError{"week", strconv.Itoa(len(day))}
		}
		for _, c := range day {
			if bad := clock("week", &c); bad != nil {
				return bad
			}
		}
	}
	return nil
}

func clock(field string, v *editorial.Clock) *InvalidError {
	if v == nil || (*v >= 0 && *v < 24*60) {
		return nil
	}
	return &InvalidError{field, strconv.Itoa(int(*v))}
}

func quiet(v *editorial.Quiet) *InvalidError {
	if v == nil {
		return nil
	}
	if bad := clock("quiet", &v.From); bad != nil {
		return bad
	}
	return clock("quiet", &v.To)
}
