package html

import "strconv"

// simple maps the tags that need no argument to their entity.
func simple(tag string) (Type, bool) {
	switch tag {
	case "i", "em":
		return Italic, true
	case "b", "strong":
		return Bold, true
	case "s", "strike", "del":
		return Strikethrough, true
	case "u", "ins":
		return Underline, true
	case "tg-spoiler", "span":
		return Spoiler, true
	}
	return "", false
}

// close adds the entity of a tag whose content has at least one unit.
func (p *parser) close(tag openTag) error {
	e := Entity{Offset: tag.offset, Length: p.units - tag.offset}
	if t, ok := simple(tag.name); ok {
		e.Type = t
		p.entities = append(p.entities, e)
		return nil
	}
	switch tag.name {
	case "tg-emoji":
		id, err := strconv.ParseInt(tag.argument, 10, 64)
		if err != nil || id == 0 {
			return errorf("Invalid custom emoji identifier specified")
		}
		e.Type, e.CustomEmojiID = CustomEmoji, id
	case "tg-time":
		if !validDateFormat(tag.argument) {
			return errorf("Invalid date format used")
		}
		if tag.date <= 0 {
			return nil
		}
		e.Type, e.UnixTime, e.DateFormat = DateTime, tag.date, tag.argument
	case "a":
		return p.closeLink(e, tag)
	case "pre", "code":
		p.closePre(e, tag)
		return nil
	case "blockquote":
		e.Type = Blockquote
		if tag.argument != "" {
			e.Type = ExpandableBlockquote
		}
	}
	p.entities = append(p.entities, e)
	return nil
}

func (p *parser) closeLink(e Entity, tag openTag) error {
	url := tag.argument
	if url == "" {
		url = string(p.out[tag.bytes:])
	}
	if id, ok := mentionedUser(url); ok {
		e.Type, e.UserID = TextMention, id
		p.entities = append(p.entities, e)
		return nil
	}
	// A link that Telegram cannot use is dropped without an error; the text stays.
	if e.Type, e.URL = TextLink, CheckedLink(url); e.URL != "" {
		p.entities = append(p.entities, e)
	}
	return nil
}

// closePre joins <pre> and <code class="language-…"> that cover exactly the
// same range into one Pre with a language, whichever is the outer.
func (p *parser) closePre(e Entity, tag openTag) {
	var last *Entity
	if n := len(p.entities); n > 0 && p.entities[n-1].Offset == e.Offset && p.entities[n-1].Length == e.Length {
		last = &p.entities[n-1]
	}
	switch {
	case tag.name == "pre" && last != nil && last.Type == Code && last.Language != "":
		last.Type = Pre
	case tag.name == "pre":
		e.Type = Pre
		p.entities = append(p.entities, e)
	case last != nil && last.Type == Pre && last.Language == "" && tag.argument != "":
		last.Language = tag.argument
	default:
		// The language waits here until a surrounding <pre> takes it; finish drops the rest.
		e.Type, e.Language = Code, tag.argument
		p.entities = append(p.entities, e)
	}
}

func validDateFormat(f string) bool {
	if f == "r" || f == "R" {
		return true
	}
	for _, c := range f {
		switch c {
		case 't', 'T', 'd', 'D', 'w', 'W':
		default:
			return false
		}
	}
	return true
}
