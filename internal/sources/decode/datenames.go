package decode

import "strings"

// monthOf knows English and Russian months, full, declined and abbreviated.
// Other languages stay unknown: "mar" and "mai" mean different months in them.
func monthOf(l string) int {
	switch l {
	case "jan", "january", "янв", "январь", "января":
		return 1
	case "feb", "february", "фев", "февр", "февраль", "февраля":
		return 2
	case "mar", "march", "мар", "март", "марта":
		return 3
	case "apr", "april", "апр", "апрель", "апреля":
		return 4
	case "may", "май", "мая":
		return 5
	case "jun", "june", "июн", "июнь", "июня":
		return 6
	case "jul", "july", "июл", "июль", "июля":
		return 7
	case "aug", "august", "авг", "август", "августа":
		return 8
	case "sep", "sept", "september", "сен", "сент", "сентябрь", "сентября":
		return 9
	case "oct", "october", "окт", "октябрь", "октября":
		return 10
	case "nov", "november", "ноя", "нояб", "ноябрь", "ноября":
		return 11
	case "dec", "december", "дек", "декабрь", "декабря":
		return 12
	}
	return 0
}

// isWeekday accepts weekdays in any spelling that starts as one does; a wrong
// weekday is no reason to doubt a date.
func isWeekday(l string) bool {
	for _, d := range []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		if strings.HasPrefix(l, d) && (len(l) <= 5 || strings.HasSuffix(l, "day")) {
			return true
		}
	}
	switch l {
	case "пн", "вт", "ср", "чт", "пт", "сб", "вс", "пон", "вто", "сре", "чет", "пят", "суб", "вос", "вск", "втр", "срд", "чтв", "птн", "сбт",
		"понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье", "среду", "пятницу", "субботу":
		return true
	}
	return false
}

// zoneOffset gives the offset of a zone name, in seconds east. Names with
// several meanings take the one that feeds use (RFC 822 for the American ones).
func zoneOffset(z string) (int, bool) {
	const h = 3600
	switch z {
	case "EST", "CDT", "COT", "PET":
		return -5 * h, true
	case "EDT", "AST", "VET", "CLT":
		return -4 * h, true
	case "CST", "MDT":
		return -6 * h, true
	case "MST", "PDT":
		return -7 * h, true
	case "PST", "AKDT":
		return -8 * h, true
	case "AKST":
		return -9 * h, true
	case "HST":
		return -10 * h, true
	case "ADT", "BRT", "ART":
		return -3 * h, true
	case "NST":
		return -(3*h + h/2), true
	case "WET", "AZOST":
		return 0, true
	case "CET", "MET", "WEST", "BST", "MEZ", "WAT":
		return h, true
	case "CEST", "MEST", "EET", "SAST", "CAT", "MESZ":
		return 2 * h, true
	case "EEST", "MSK", "МСК", "EAT", "TRT", "FET":
		return 3 * h, true
	case "MSD", "SAMT", "GST", "AZT", "AMT", "GET":
		return 4 * h, true
	case "IRST":
		return 3*h + h/2, true
	case "YEKT", "PKT", "UZT", "TMT", "TJT", "ALMT", "QYZT":
		return 5 * h, true
	case "IST":
		return 5*h + h/2, true
	case "NPT":
		return 5*h + 45*60, true
	case "OMST", "KGT", "BDT":
		return 6 * h, true
	case "KRAT", "NOVT", "ICT", "WIB":
		return 7 * h, true
	case "IRKT", "HKT", "SGT", "AWST", "PHT", "WITA", "MYT":
		return 8 * h, true
	case "JST", "KST", "YAKT", "WIT":
		return 9 * h, true
	case "AEST", "VLAT":
		return 10 * h, true
	case "ACST":
		return 9*h + h/2, true
	case "AEDT", "MAGT", "SAKT":
		return 11 * h, true
	case "PETT", "NZST":
		return 12 * h, true
	case "NZDT":
		return 13 * h, true
	}
	return 0, false
}
