package sources

import (
	"strings"
	"testing"
)

func TestLanguageIsWhatTheWordsShow(t *testing.T) {
	t.Parallel()
	russian := strings.Repeat("Мост через гавань снова открыт для движения после долгого ремонта. ", 3)
	english := strings.Repeat("The harbour bridge is open to traffic again after a long repair. ", 3)
	for _, tc := range []struct{ text, declared, want string }{
		{russian, "en-us", "ru"}, {english, "", "en"}, {"short", "ru-RU", "ru"}, {"short", "", ""}, {"short", "not a tag", ""}, {english, "EN", "en"},
	} {
		if got := languageIn(tc.text, tc.declared); got != tc.want {
			t.Errorf("languageIn(%.20q, %q) = %q, want %q", tc.text, tc.declared, got, tc.want)
		}
	}
}
