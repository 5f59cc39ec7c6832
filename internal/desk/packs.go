package desk

// SuggestedPacks are well-known public feeds per language and topic, for a
// channel's first minutes. Ids have at most 16 letters, as buttons carry them.
func SuggestedPacks() []PackView {
	return append(englishPacks(), russianPacks()...)
}

func englishPacks() []PackView {
	return []PackView{
		{ID: "en-tech", Language: "en", Title: "💻 Technology", Sources: []string{
			"https://feeds.arstechnica.com/arstechnica/index",
			"https://www.theverge.com/rss/index.xml",
			"https://techcrunch.com/feed/",
			"https://www.technologyreview.com/feed/",
			"https://hnrss.org/frontpage",
		}},
		{ID: "en-science", Language: "en", Title: "🔬 Science", Sources: []string{
			"https://www.nature.com/nature.rss",
			"https://www.quantamagazine.org/feed/",
			"https://www.sciencedaily.com/rss/top/science.xml",
			"https://phys.org/rss-feed/",
			"https://www.nasa.gov/news-release/feed/",
		}},
		{ID: "en-ai", Language: "en", Title: "🤖 AI", Sources: []string{
			"https://openai.com/news/rss.xml",
			"https://huggingface.co/blog/feed.xml",
			"https://deepmind.google/blog/rss.xml",
			"https://simonwillison.net/atom/everything/",
			"https://rss.arxiv.org/rss/cs.CL",
		}},
		{ID: "en-dev", Language: "en", Title: "🛠 Programming", Sources: []string{
			"https://go.dev/blog/feed.atom",
			"https://github.blog/feed/",
			"https://lwn.net/headlines/rss",
			"https://blog.rust-lang.org/feed.xml",
			"https://www.postgresql.org/news.rss",
		}},
		{ID: "en-world", Language: "en", Title: "🌍 World news", Sources: []string{
			"https://feeds.bbci.co.uk/news/world/rss.xml",
			"https://www.theguardian.com/world/rss",
			"https://feeds.npr.org/1001/rss.xml",
			"https://www.aljazeera.com/xml/rss/all.xml",
			"https://rss.dw.com/rdf/rss-en-all",
		}},
		{ID: "en-business", Language: "en", Title: "📈 Business", Sources: []string{
			"https://feeds.bbci.co.uk/news/business/rss.xml",
			"https://feeds.npr.org/1006/rss.xml",
			"https://www.economist.com/finance-and-economics/rss.xml",
			"https://www.cnbc.com/id/100003114/device/rss/rss.html",
		}},
		{ID: "en-games", Language: "en", Title: "🎮 Games", Sources: []string{
			"https://www.eurogamer.net/feed",
			"https://www.rockpapershotgun.com/feed",
			"https://www.polygon.com/rss/index.xml",
			"https://www.pcgamer.com/rss/",
		}},
		{ID: "en-space", Language: "en", Title: "🚀 Space", Sources: []string{
			"https://spacenews.com/feed/",
			"https://www.nasa.gov/news-release/feed/",
			"https://www.esa.int/rssfeed/Our_Activities/Space_News",
			"https://www.planetary.org/rss/articles",
		}},
	}
}

func russianPacks() []PackView {
	return []PackView{
		{ID: "ru-tech", Language: "ru", Title: "💻 Технологии", Sources: []string{
			"https://habr.com/ru/rss/articles/",
			"https://3dnews.ru/news/rss/",
			"https://www.ixbt.com/export/news.rss",
			"https://vc.ru/rss",
			"https://www.opennet.ru/opennews/opennews_all_utf.rss",
		}},
		{ID: "ru-science", Language: "ru", Title: "🔬 Наука", Sources: []string{
			"https://nplus1.ru/rss",
			"https://elementy.ru/rss/news",
			"https://www.nkj.ru/rss/",
			"https://naked-science.ru/feed",
		}},
		{ID: "ru-world", Language: "ru", Title: "🌍 Новости", Sources: []string{
			"https://lenta.ru/rss",
			"https://rssexport.rbc.ru/rbcnews/news/30/full.rss",
			"https://www.kommersant.ru/RSS/news.xml",
			"https://feeds.bbci.co.uk/russian/rss.xml",
			"https://meduza.io/rss/all",
		}},
		{ID: "ru-dev", Language: "ru", Title: "🛠 Разработка", Sources: []string{
			"https://habr.com/ru/rss/hubs/programming/articles/",
			"https://www.opennet.ru/opennews/opennews_all_utf.rss",
			"https://tproger.ru/feed/",
			"https://go.dev/blog/feed.atom",
		}},
		{ID: "ru-business", Language: "ru", Title: "📈 Бизнес", Sources: []string{
			"https://www.vedomosti.ru/rss/news",
			"https://www.forbes.ru/newrss.xml",
			"https://vc.ru/rss",
			"https://www.kommersant.ru/RSS/section-economics.xml",
		}},
		{ID: "ru-games", Language: "ru", Title: "🎮 Игры", Sources: []string{
			"https://stopgame.ru/rss/rss_all.xml",
			"https://dtf.ru/rss",
			"https://www.igromania.ru/rss/all.rss",
		}},
	}
}
