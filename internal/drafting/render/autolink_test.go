package render

import "testing"

func TestDefuseLeavesNothingThatTelegramLinks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Visit https://evil.example/x?y=1 now":       "Visit now",
		"Amazon.com sells books.":                    "Amazon sells books.",
		"Write to @durov, please":                    "Write to please",
		"Mail bob@example.org.":                      "Mail",
		"(см. lenta.ru)":                             "(см. lenta)",
		"The U.S. and e.g. Node.js 2.5 ran at 5 a.m": "The U.S. and e.g. Node.js 2.5 ran at 5 a.m",
		"tg://resolve?domain=x":                      "",
		"evil.com/free":                              "",
		"пример.рф работает":                         "пример работает",
		"т.е. 2.5 млн":                               "т.е. 2.5 млн",
		"sub.evil.co.uk:8080":                        "sub.evil",
	} {
		got := Defuse(in)
		if got != want {
			t.Errorf("Defuse(%q) = %q, want %q", in, got, want)
		}
		if left := Autolinks(got); len(left) > 0 {
			t.Errorf("%q still links %q", got, left)
		}
	}
}

func FuzzDefuse(f *testing.F) {
	f.Add("a.com,b.org/@x «http://y.z» mail@x.io …")
	f.Fuzz(func(t *testing.T, s string) {
		if left := Autolinks(Defuse(s)); len(left) > 0 {
			t.Errorf("%q leaves %q", s, left)
		}
	})
}
