package words

// stop tells whether a lower-cased word is a function word of English or Russian.
// A switch rather than a map: it cannot be changed, and it compiles to a search.
func stop(w string) bool {
	return stopEnglish(w) || stopRussian(w)
}

func stopEnglish(w string) bool {
	switch w {
	case "a", "about", "above", "after", "again", "against", "ago", "all", "also", "although", "am", "among", "an", "and",
		"any", "are", "aren", "around", "as", "at", "be", "because", "been", "before", "being", "below", "between",
		"both", "but", "by", "can", "could", "couldn", "did", "didn", "do", "does", "doesn", "doing", "don", "down",
		"during", "each", "either", "even", "every", "few", "for", "from", "further", "get", "gets", "getting", "got", "had",
		"hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers", "him", "his", "how", "however", "i",
		"if", "in", "into", "is", "isn", "it", "its", "itself", "just", "ll", "may", "me", "might", "more", "most",
		"much", "must", "my", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our",
		"ours", "out", "over", "own", "per", "re", "s", "said", "same", "say", "says", "shall", "she", "should", "since", "so",
		"some", "still", "such", "t", "than", "that", "the", "their", "theirs", "them", "then", "there", "these",
		"they", "this", "those", "through", "to", "too", "under", "until", "up", "upon", "us", "ve", "very", "via", "was",
		"wasn", "we", "were", "weren", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose",
		"why", "will", "with", "within", "without", "won", "would", "wouldn", "yet", "you", "your", "yours":
		return true
	}
	return false
}

func stopRussian(w string) bool {
	switch w {
	case "а", "без", "более", "больше", "будет", "будут", "бы", "был", "была", "были", "было", "быть", "в", "вам",
		"вас", "ведь", "весь", "вместе", "во", "вот", "все", "всего", "всех", "вы", "где", "да", "даже", "для", "до", "другие",
		"его", "ее", "ей", "если", "есть", "еще", "ж", "же", "за", "здесь", "и", "из", "или", "им", "их", "к", "как",
		"какая", "какой", "когда", "кого", "кто", "куда", "ли", "лишь", "либо", "между", "меня", "мне", "может", "можно",
		"мой", "мы", "на", "над", "надо", "нас", "наш", "не", "него", "нее", "ней", "нет", "ни", "них", "но", "ну",
		"о", "об", "однако", "он", "она", "они", "оно", "от", "очень", "перед", "по", "под", "пока", "после", "потому",
		"потом", "почти", "при", "про", "раз", "с", "сам", "свой", "своих", "свою", "свое", "себе", "себя", "сейчас", "со",
		"так", "такая", "также", "такие", "такой", "там", "те", "тем", "теперь", "то", "тоже", "того", "той", "только", "том",
		"тот", "ту", "тут", "ты", "у", "уже", "хотя", "через", "чего", "чем", "что", "чтобы", "чье", "чья", "эта",
		"эти", "этим", "этих", "это", "этого", "этой", "этом", "этот", "эту", "я", "которая", "которого", "которое", "которой",
		"котором", "которые", "который", "которых", "которую", "ранее", "сообщил", "сообщила", "сообщили", "сообщает", "словам":
		return true
	}
	return false
}
