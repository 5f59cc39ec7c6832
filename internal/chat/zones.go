package chat

import (
	"strings"
	"time"

	"github.com/postonce/postonce/internal/editorial"
)

// cityZones finds a time zone by the name of a city, as people write it in
// English or Russian; IANA names need no entry.
func cityZones() map[string]string {
	return map[string]string{
		"лондон": "Europe/London", "берлин": "Europe/Berlin", "париж": "Europe/Paris", "рим": "Europe/Rome", "мадрид": "Europe/Madrid",
		"москва": "Europe/Moscow", "мск": "Europe/Moscow", "msk": "Europe/Moscow", "питер": "Europe/Moscow", "санкт-петербург": "Europe/Moscow",
		"saint petersburg": "Europe/Moscow", "калининград": "Europe/Kaliningrad", "самара": "Europe/Samara", "екатеринбург": "Asia/Yekaterinburg",
		"омск": "Asia/Omsk", "новосибирск": "Asia/Novosibirsk", "красноярск": "Asia/Krasnoyarsk", "иркутск": "Asia/Irkutsk",
		"владивосток": "Asia/Vladivostok", "казань": "Europe/Moscow", "сочи": "Europe/Moscow", "киев": "Europe/Kyiv", "київ": "Europe/Kyiv", "kiev": "Europe/Kyiv",
		"минск": "Europe/Minsk", "алматы": "Asia/Almaty", "астана": "Asia/Almaty", "astana": "Asia/Almaty", "ташкент": "Asia/Tashkent", "тбилиси": "Asia/Tbilisi",
		"ереван": "Asia/Yerevan", "баку": "Asia/Baku", "бишкек": "Asia/Bishkek", "стамбул": "Europe/Istanbul", "белград": "Europe/Belgrade",
		"дубай": "Asia/Dubai", "тель-авив": "Asia/Jerusalem", "tel aviv": "Asia/Jerusalem", "delhi": "Asia/Kolkata", "new delhi": "Asia/Kolkata", "mumbai": "Asia/Kolkata",
		"beijing": "Asia/Shanghai", "san francisco": "America/Los_Angeles", "seattle": "America/Los_Angeles", "boston": "America/New_York",
		"washington": "America/New_York", "miami": "America/New_York", "montreal": "America/Toronto", "munich": "Europe/Berlin", "hamburg": "Europe/Berlin",
		"barcelona": "Europe/Madrid", "milan": "Europe/Rome", "geneva": "Europe/Zurich", "нью-йорк": "America/New_York", "лос-анджелес": "America/Los_Angeles",
		"бали": "Asia/Makassar", "bali": "Asia/Makassar", "пхукет": "Asia/Bangkok", "бангкок": "Asia/Bangkok", "токио": "Asia/Tokyo", "прага": "Europe/Prague",
		"варшава": "Europe/Warsaw", "вильнюс": "Europe/Vilnius", "рига": "Europe/Riga", "таллин": "Europe/Tallinn", "лимасол": "Asia/Nicosia", "limassol": "Asia/Nicosia",
		"utc": "UTC", "gmt": "UTC",
	}
}

// regions are the first parts of IANA names under which a city is looked for.
func regions() []string {
	return []string{"Europe", "Asia", "America", "Africa", "Australia", "Pacific", "Atlantic", "Indian", "America/Argentina"}
}

// findZone reads an IANA name in any spelling ("europe/berlin") or a city.
func findZone(s string) (string, bool) {
	s = strings.TrimSpace(strings.ToLower(s))
	if s == "" || s == "local" {
		return "", false
	}
	if z, ok := cityZones()[s]; ok {
		return z, true
	}
	name := titleZone(s)
	if strings.Contains(name, "/") {
		if _, err := time.LoadLocation(name); err == nil {
			return name, true
		}
		return "", false
	}
	for _, r := range regions() {
		if _, err := time.LoadLocation(r + "/" + name); err == nil {
			return r + "/" + name, true
		}
	}
	return "", false
}

// titleZone spells a name as IANA does: capitals, underscores for spaces.
func titleZone(s string) string {
	b := []byte(strings.ReplaceAll(s, " ", "_"))
	up := true
	for i, c := range b {
		if up && c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
		up = c == '/' || c == '_' || c == '-'
	}
	return string(b)
}

// zoneChoices are the zones that people of the interface's language mostly live in.
func zoneChoices(t *turn, ch *editorial.Channel) []choice {
	var list []choice
	for _, n := range strings.Fields(t.Plain("zone.usual")) {
		n, city, named := strings.Cut(n, "=") // "Europe/Moscow=Москва": the city as the language spells it
		if !named {
			city = n[strings.LastIndexByte(n, '/')+1:]
		}
		text := strings.ReplaceAll(city, "_", " ") + " " + t.now.In(location(n)).Format("15:04")
		list = append(list, choice{text: text, value: n, on: n == ch.TimeZone})
	}
	return list
}
