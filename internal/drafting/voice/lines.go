package voice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postonce/postonce/internal/drafting/render"
)

// The keys of what is learned, one a line that people see and can take out.
const (
	Length   = "length"
	Emoji    = "emoji"
	Opens    = "opens"
	Closes   = "closes"
	Sober    = "sober"
	Hashtags = "hashtags"
	Footer   = "footer"
	Examples = "examples"

	EditLength = "edit_length"
	EditEmoji  = "edit_emoji"
	EditSober  = "edit_sober"

	// All stands for every line: nothing is learned until people ask for it.
	All = "all"
)

// Keys lists the keys in the order of the lines.
func Keys() []string {
	return []string{Length, Emoji, Opens, Closes, Sober, Hashtags, Footer, Examples, EditLength, EditEmoji, EditSober}
}

// Line is one thing that was learned. Value is a code (none, some, often, emoji,
// question) or the channel's own words; N a length in UTF-16 units, or a count.
type Line struct {
	Key   string
	Value string
	N     int
}

// Lines lists what is known and not forgotten.
func (v Voice) Lines() []Line {
	v = v.Kept()
	var out []Line
	add := func(known bool, l Line) {
		if known {
			out = append(out, l)
		}
	}
	add(v.Units > 0, Line{Key: Length, N: v.Units})
	add(v.Emoji != "", Line{Key: Emoji, Value: v.Emoji})
	add(v.Opens == "emoji", Line{Key: Opens, Value: v.Lead})
	add(v.Closes == "question", Line{Key: Closes, Value: v.Closes})
	add(v.Formal, Line{Key: Sober})
	add(len(v.Hashtags) > 0, Line{Key: Hashtags, Value: "#" + strings.Join(v.Hashtags, " #")})
	add(v.Footer != "", Line{Key: Footer, Value: v.Footer})
	add(len(v.Examples) > 0, Line{Key: Examples, N: len(v.Examples)})
	add(v.Edits.Units > 0, Line{Key: EditLength, N: v.Edits.Units})
	add(v.Edits.Emoji != "", Line{Key: EditEmoji, Value: v.Edits.Emoji})
	add(v.Edits.Sober, Line{Key: EditSober})
	return out
}

// Kept is the voice without what people took out of it.
func (v Voice) Kept() Voice {
	for _, key := range v.Forgotten {
		switch key {
		case All:
			return Voice{Forgotten: v.Forgotten}
		case Length:
			v.Units, v.Sentences = 0, 0
		case Emoji:
			v.Emoji = ""
		case Opens:
			v.Opens, v.Lead = "", ""
		case Closes:
			v.Closes = ""
		case Sober:
			v.Formal = false
		case Hashtags:
			v.Hashtags, v.AlwaysTags = nil, false
		case Footer:
			v.Footer = ""
		case Examples:
			v.Examples = nil
		case EditLength:
			v.Edits.Units = 0
		case EditEmoji:
			v.Edits.Emoji = ""
		case EditSober:
			v.Edits.Sober = false
		}
	}
	return v
}

// For is the voice that a writer follows: what is kept, with what edits taught in
// place of the habit, and without whatever the owner's own rules speak of: those win.
func (v Voice) For(tone []string) Voice {
	v = v.Kept()
	if v.Edits.Units > 0 {
		v.Units, v.Sentences = v.Edits.Units, 0
	}
	if v.Edits.Emoji != "" {
		v.Emoji = v.Edits.Emoji
	}
	v.Formal = v.Formal || v.Edits.Sober
	for _, rule := range tone {
		v = v.yield(strings.ToLower(rule))
	}
	if v.Emoji == "none" {
		v.Opens, v.Lead = "", ""
	}
	return v
}

// yield gives way to one rule of the owner, in the languages of the interface.
func (v Voice) yield(rule string) Voice {
	about := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(rule, w) })
	}
	if about("emoji", "эмодзи", "смайл") {
		v.Emoji, v.Opens, v.Lead = "", "", ""
		if strings.HasPrefix(rule, "no ") || about("without", "never", "без ", "никаких") {
			v.Emoji = "none"
		}
	}
	if about("length", "characters", "shorter", "longer", "brief", "short post", "long post", "длин", "короче", "короткие посты", "символ", "знаков") {
		v.Units, v.Sentences = 0, 0
	}
	if about("question", "вопрос", "close with", "end with", "заканчива", "заверша") {
		v.Closes = ""
	}
	if about("open with", "begin with", "start with", "начина") {
		v.Opens, v.Lead = "", ""
	}
	if about("exclamation", "восклица") {
		v.Formal = false
	}
	if about("hashtag", "хештег", "хэштег") {
		v.Hashtags, v.AlwaysTags = nil, false
	}
	if about("footer", "подпис", "подвал") {
		v.Footer = ""
	}
	return v
}

// Rules puts a voice into sentences for a model.
func (v Voice) Rules() []string {
	var out []string
	switch {
	case v.Units > 0 && v.Sentences > 0:
		out = append(out, fmt.Sprintf("About %d characters in %d sentences.", v.Units, v.Sentences))
	case v.Units > 0:
		out = append(out, fmt.Sprintf("About %d characters.", v.Units))
	}
	switch v.Emoji {
	case "none":
		out = append(out, "No emoji.")
	case "often":
		out = append(out, "Emoji are welcome.")
	}
	switch {
	case v.Lead != "": // the template puts it there
		out = append(out, "Do not open with an emoji: the program adds the channel's own.")
	case v.Opens == "emoji":
		out = append(out, "Open with one fitting emoji.")
	}
	if v.Closes == "question" {
		out = append(out, "Close with a question to the readers.")
	}
	if v.Formal {
		out = append(out, "Sober: no exclamation marks.")
	}
	return out
}

// Taught is what the edits of drafts teach; the zero value is nothing.
type Taught struct {
	Units int    `json:"units,omitempty"` // the length that people bring drafts to
	Emoji string `json:"emoji,omitempty"` // none, often
	Sober bool   `json:"sober,omitempty"` // exclamation marks are taken out
}

// Edit is a draft and what a person made of it, plain.
type Edit struct{ Draft, Made string }

// FromEdits says what edits have in common. One edit is chance: a habit shows twice
// at least, and in most of the edits that touched the matter.
func FromEdits(edits []Edit) Taught {
	var out Taught
	var resized []int
	shorter, longer, bare, decked, calmed, loud := 0, 0, 0, 0, 0, 0
	for _, e := range edits {
		a, b := render.TextUnits(e.Draft), render.TextUnits(e.Made)
		switch {
		case a > 200 && b*3 < a*2:
			shorter++
			resized = append(resized, b)
		case b > 200 && a*3 < b*2:
			longer++
			resized = append(resized, b)
		}
		switch ea, eb := countFunc(e.Draft, pictograph), countFunc(e.Made, pictograph); {
		case ea > 0 && eb == 0:
			bare++
		case ea == 0 && eb > 1:
			decked++
		}
		if strings.Contains(e.Draft, "!") {
			calmed += flag(!strings.Contains(e.Made, "!"))
			loud += flag(strings.Contains(e.Made, "!"))
		}
	}
	if habit(shorter, longer) || habit(longer, shorter) {
		out.Units = median(resized)
	}
	if habit(bare, decked) {
		out.Emoji = "none"
	} else if habit(decked, bare) {
		out.Emoji = "often"
	}
	out.Sober = habit(calmed, loud)
	return out
}

func habit(yes, no int) bool { return yes >= 2 && yes > no }

// WithoutEmoji takes pictographs out of a text, with the space that each leaves behind.
func WithoutEmoji(s string) string {
	if strings.IndexFunc(s, pictograph) < 0 {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if pictograph(r) || r == 0xFE0F || r == 0x200D {
			return -1
		}
		return r
	}, s)
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return strings.TrimSpace(s)
}

// Known tells that a key names a line, or all of them.
func Known(key string) bool { return key == All || slices.Contains(Keys(), key) }
