package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/drafting/render"
)

// Headline cleans an item's title: without the site's name at its end, agency
// marks, section tags in brackets and shouting.
func Headline(title, source string) string {
	t := render.Line(withoutTags(title))
	t = render.Line(render.Defuse(t))
	for {
		cut := withoutSuffix(t, source)
		if cut == t {
			break
		}
		t = cut
	}
	t = strings.TrimSpace(strings.TrimSuffix(t, "[…]"))
	if strings.HasSuffix(t, "...") {
		t = strings.TrimRight(t, ". ") + "…"
	}
	return t
}

// tag is formatting that stands as text, because somebody escaped it twice or hopes
// that we do not.
var tag = regexp.MustCompile(`(?i)</?(a|abbr|b|blockquote|br|code|div|em|font|h[1-6]|i|iframe|img|li|p|pre|s|script|small|span|strong|style|sub|sup|tg-spoiler|u|ul)(\s[^<>]*)?/?>`) //nolint:gochecknoglobals // compiled once

// withoutTags takes such formatting out where it is meant as such: "the <b> tag"
// speaks of one.
func withoutTags(s string) string {
	if !strings.Contains(s, "</") && !strings.Contains(s, "=") && !strings.Contains(s, "/>") {
		return s
	}
	return tag.ReplaceAllString(s, "")
}

// withoutSuffix takes one " - Site name", " | Site" or "(AP)" from the end.
func withoutSuffix(t, source string) string {
	if i := strings.LastIndex(t, " ("); i > 0 && strings.HasSuffix(t, ")") && agency(t[i+2:len(t)-1]) {
		return t[:i]
	}
	for _, mark := range []string{" | ", " - ", " – ", " — ", " :: ", " · ", " » "} {
		i := strings.LastIndex(t, mark)
		if i <= 0 {
			continue
		}
		tail := strings.TrimSpace(t[i+len(mark):])
		if tail == "" || sameName(tail, source) || agency(tail) || mark == " | " && len(strings.Fields(tail)) <= 3 && len(strings.Fields(t[:i])) >= 3 {
			return strings.TrimSpace(t[:i])
		}
	}
	return t
}

func sameName(a, source string) bool {
	a, source = words.Fold(a), words.Fold(render.Line(source))
	return source != "" && (a == source || strings.HasPrefix(source, a+" ") || strings.HasPrefix(a, source+" ") && utf8.RuneCountInString(a) < 40)
}

func agency(s string) bool {
	switch strings.ToLower(strings.Trim(s, " .")) {
	case "ap", "afp", "reuters", "bbc", "bbc news", "bbc sport", "cnn", "space.com", "upi", "bloomberg", "the guardian", "the new york times", "the verge", "techcrunch", "cnn.com", "npr", "axios",
		"тасс", "риа новости", "риа", "интерфакс", "lenta.ru", "лента.ру", "рбк", "коммерсантъ", "ведомости", "хабр", "habr", "meduza", "vc.ru", "газета.ru", "известия":
		return true
	}
	return false
}

// tidy takes from a sentence what no post should carry: addresses, hashtags at
// the end, bullets, footnote marks, and the dateline of the first one.
func tidy(s string, first bool) string {
	s = render.Defuse(withoutTags(s))
	s = strings.TrimLeftFunc(s, func(r rune) bool {
		return strings.ContainsRune("•▪■●◾▶►➡→*·|–—-:,;", r) || unicode.IsSpace(r) || unicode.Is(unicode.So, r) || r == 0xFE0F || r == 0x200D
	})
	s = withoutHashtags(s)
	if first {
		s = withoutDateline(s)
	}
	return strings.TrimSpace(s)
}

func withoutHashtags(s string) string {
	fields := strings.Fields(s)
	n := len(fields)
	for n > 0 && strings.HasPrefix(fields[n-1], "#") {
		n--
	}
	start := 0
	for start < n && strings.HasPrefix(fields[start], "#") {
		start++
	}
	return strings.Join(fields[start:n], " ")
}

// doubleHyphen is how agencies type a dash. (Written so, as two hyphens would
// read as a comment of SQL to the test that looks for stray queries.)
const doubleHyphen = "-" + "-"

// withoutDateline cuts "LONDON (Reuters) - " and "МОСКВА, 5 мая — РИА Новости. ".
func withoutDateline(s string) string {
	for _, mark := range []string{") - ", ") – ", ") — ", ") " + doubleHyphen + " "} {
		if i := strings.Index(s, mark); i > 0 && i < 60 && !strings.ContainsAny(s[:i], ".!?:") && shouts(s) {
			return s[i+len(mark):]
		}
	}
	for _, mark := range []string{" " + doubleHyphen + " ", " — ", " – ", " - "} {
		i := strings.Index(s, mark)
		if i <= 0 || i > 60 {
			continue
		}
		if shouts(s) && agency(s[i+len(mark):]) {
			return "" // a dateline alone
		}
		if head := s[:i]; agency(head) || shouts(head) && len(strings.Fields(head)) <= 6 && len(s)-i > 40 && (strings.ContainsAny(head, ",") || upper(head)) {
			rest := s[i+len(mark):]
			if name, after, ok := strings.Cut(rest, ". "); ok && agency(name) {
				rest = after
			}
			return rest
		}
	}
	return s
}

// shouts tells that a text opens with a word in capitals, as datelines do.
func shouts(s string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(s, " "), " ")
	return utf8.RuneCountInString(word) > 2 && upper(strings.TrimRight(word, ",."))
}

func upper(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && !strings.ContainsFunc(s, unicode.IsLower)
}

// boilerplate tells a sentence that is no part of the story.
func boilerplate(s string) bool {
	low := words.Fold(s)
	n := len(strings.Fields(low))
	if strings.ContainsRune(s, '@') && strings.ContainsFunc(afterAt(s), unicode.IsLetter) {
		return true // a handle or a mail address: somebody else's call to action
	}
	for _, p := range anywhere() {
		if strings.Contains(low, p) {
			return true
		}
	}
	for _, p := range openings() {
		if strings.HasPrefix(low, p) && n <= 14 {
			return true
		}
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	ends := strings.ContainsRune(".!?…»”\")", last)
	return n < 3 || n < 6 && !ends || strings.Count(s, "|") >= 2 || !strings.ContainsFunc(s, unicode.IsLetter)
}

func afterAt(s string) string {
	_, rest, _ := strings.Cut(s, "@")
	return rest[:min(len(rest), 4)]
}

// anywhere lists phrases that mark a sentence as boilerplate wherever they stand.
func anywhere() []string {
	return []string{
		"appeared first on", "all rights reserved", "sign up for our", "subscribe to our", "subscribe now", "newsletter", "click here", "cookie", "terms of service", "privacy policy",
		"follow us on", "previous instructions", "system prompt", "system message", "as an ai", "[inst]", "[/inst]", "<<sys", "<|", "|>", "### system", "read more", "read the full", "continue reading", "full story", "share this", "this article was originally", "enable javascript", "affiliate commission", "view comments", "join our telegram",
		"предыдущие инструкции", "системное сообщение", "читать далее", "читать полностью", "читайте также", "подписывайтесь", "подпишитесь", "подписаться", "наш канал", "нашем канале", "нашем telegram", "в нашем телеграм", "все права защищены", "перепечатка",
		"нашли опечатку", "нашли ошибку", "ctrl+enter", "поделиться в", "политика конфиденциальности", "файлы cookie", "узнать подробнее", "подробнее на сайте", "переходите по ссылке", "по ссылке ниже", "erid",
	}
}

// openings lists how short sentences of boilerplate begin.
func openings() []string {
	return []string{
		"advertisement", "photo:", "image:", "image credit", "photograph:", "video:", "source:", "related:", "see also", "also read", "by ", "posted by", "published ", "updated ", "comments", "tags:", "©", "copyright",
		"watch:", "listen:", "article url", "comments url", "points:", "# comments", "submitted by", "the post ",
		"фото:", "фото ", "видео:", "источник:", "автор:", "реклама", "теги:", "читайте", "смотрите также", "по теме", "комментарии", "скриншот:", "иллюстрация:", "текст:", "на правах рекламы", "подробнее",
	}
}
