package decode

import (
	"testing"
	"time"
)

func TestParseDateReadsWhatFeedsWrite(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Tue, 10 Jun 2003 04:00:00 EST":              "2003-06-10T09:00:00Z",
		"Tue, 10 Jun 2003 04:00:00 GMT+3":            "2003-06-10T01:00:00Z",
		"Tue, 10 Jun 2003 04:00:00 GMT-0330":         "2003-06-10T07:30:00Z",
		"Вт, 10 июн 2003 04:00:00 +0300":             "2003-06-10T01:00:00Z",
		"10 июня 2003 г. 14:05 МСК":                  "2003-06-10T11:05:00Z",
		"2003-06-10":                                 "2003-06-10T00:00:00Z",
		"Tue, 10 Jun 2003 8:56 pm PST":               "2003-06-11T04:56:00Z",
		"20030610T040000Z":                           "2003-06-10T04:00:00Z",
		"20030610T040000+0300":                       "2003-06-10T01:00:00Z",
		"20030610T040000-0300":                       "2003-06-10T07:00:00Z",
		"2003-06-10T04:00:5+01:00":                   "2003-06-10T03:00:05Z",
		"2003-06-10T04:00:00.5-01:00":                "2003-06-10T05:00:00.5Z",
		"2003-06-10 04:00:00":                        "2003-06-10T04:00:00Z",
		"2003-06-10 04:00:00 -0700":                  "2003-06-10T11:00:00Z",
		"2003-06-10T04:00-07:00":                     "2003-06-10T11:00:00Z",
		"June 10, 2003 at 4:00 AM":                   "2003-06-10T04:00:00Z",
		"10-Jun-2003 12:00 am":                       "2003-06-10T00:00:00Z",
		"10.06.2003 04:00":                           "2003-06-10T04:00:00Z",
		"06/10/2003 4:00:01 PM":                      "2003-06-10T16:00:01Z",
		"25/06/2003":                                 "2003-06-25T00:00:00Z",
		"Tuesday, 10-Jun-03 04:00:00 UTC":            "2003-06-10T04:00:00Z",
		"10 Jun 03 04:00 MSK":                        "2003-06-10T01:00:00Z",
		"Tue Jun 10 04:00:00 2003":                   "2003-06-10T04:00:00Z",
		"Tue Jun 10 04:00:00 PDT 2003":               "2003-06-10T11:00:00Z",
		"Tue, 10 Jun 2003 04:00:00 America/New_York": "2003-06-10T08:00:00Z",
		"Tue, 10 June 2003 04:00:00 +03":             "2003-06-10T01:00:00Z",
		"Thurs, 10 Jun 2003 04:00:00 Z":              "2003-06-10T04:00:00Z",
		"1055217600":                                 "2003-06-10T04:00:00Z",
		"1055217600000":                              "2003-06-10T04:00:00Z",
		"Sat, 31 Dec 2022 24:00:00 GMT":              "2023-01-01T00:00:00Z",
		"Mon, 01 Jan 0001 00:00:00 +0000":            "0001-01-01T00:00:00Z",
	} {
		got, ok := ParseDate(in)
		if !ok || got.Format(time.RFC3339Nano) != want {
			t.Errorf("ParseDate(%q) = %v %v, want %s", in, got.Format(time.RFC3339Nano), ok, want)
		}
	}
}

func TestParseDateRatherKnowsNothingThanWrong(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "10 juin 2003", "Tue, 10 Jun 2003 04:00:00 XYZT", "yesterday", "31 Jun 2003", "2003-13-01", "10 Jun", "99999999999999999999",
		"2003-06-10 25:00", "Jun 2003", "::", "-", "+", "10:00", "2003-06-10T04:00:00+99:00",
	} {
		if got, ok := ParseDate(in); ok {
			t.Errorf("ParseDate(%q) = %v", in, got)
		}
	}
}

func TestPlausibleDropsAbsurdDates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	for in, want := range map[string]bool{
		"1970-01-01": false, "0001-01-01": false, "2041-01-01": false, "9999-12-31": false, "2026-05-05": true, "1999-01-01": true,
	} {
		d, _ := ParseDate(in)
		if got := !Plausible(d, now).IsZero(); got != want {
			t.Errorf("Plausible(%s) = %v", in, got)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"Tue, 10 Jun 2003 04:00:00 GMT+3", "20030610T040000Z", "10 июня 2003 г. 14:05 МСК", "June 10, 2003 at 4:00 AM", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseDate(s); ok && d.Location() != time.UTC {
			t.Errorf("%q is not in UTC", s)
		}
	})
}
