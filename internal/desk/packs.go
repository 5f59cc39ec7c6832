package desk

// SuggestedPacks are well-kept public feeds per language and topic, for a
// channel's first minutes.
func SuggestedPacks() []PackView {
	return []PackView{
		{ID: "en-tech", Language: "en", Title: "Technology", Sources: []string{
			"https://feeds.arstechnica.com/arstechnica/index", "https://www.theverge.com/rss/index.xml", "https://hnrss.org/frontpage?points=200",
		}},
		{ID: "en-science", Language: "en", Title: "Science", Sources: []string{
			"https://www.nature.com/nature.rss", "https://www.nasa.gov/news-release/feed/", "https://phys.org/rss-feed/",
		}},
		{ID: "en-world", Language: "en", Title: "World news", Sources: []string{
			"https://feeds.bbci.co.uk/news/world/rss.xml", "https://www.theguardian.com/world/rss", "https://rss.dw.com/rdf/rss-en-world",
		}},
		{ID: "en-dev", Language: "en", Title: "Programming", Sources: []string{
			"https://go.dev/blog/feed.atom", "https://blog.rust-lang.org/feed.xml", "https://lobste.rs/rss",
		}},
		{ID: "ru-tech", Language: "ru", Title: "Технологии", Sources: []string{
			"https://habr.com/ru/rss/news/", "https://3dnews.ru/news/rss/", "https://www.opennet.ru/opennews/opennews_all_utf.rss",
		}},
		{ID: "ru-science", Language: "ru", Title: "Наука", Sources: []string{
			"https://nplus1.ru/rss", "https://elementy.ru/rss/news",
		}},
		{ID: "ru-news", Language: "ru", Title: "Новости", Sources: []string{
			"https://feeds.bbci.co.uk/russian/rss.xml", "https://rss.dw.com/rdf/rss-ru-all",
		}},
	}
}
