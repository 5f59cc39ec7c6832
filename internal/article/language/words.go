package language

import (
	"math/bits"
	"strings"
	"sync"

	"github.com/abadojack/whatlanggo"
)

// commonWords are the commonest words of the languages in Latin script that are
// told apart. A word may stand in several.
var commonWords = [...]struct{ lang, words string }{
	{"en", "the of and to in is that for on with was as at by from has are be it this have will not which his an were said their after"},
	{"de", "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch an werden aus er hat dass sie nach wird bei einer um am sind noch wie über zum zur vor"},
	{"fr", "le la les de des du et en un une est que qui dans pour pas sur au avec ce il par plus sont aux se son été cette mais ont"},
	{"es", "el la los las de del y en un una es que por con para no se su al lo como más ha sus fue este pero entre"},
	{"it", "il la le di del della dei e in un una è che per con non si da sono al alla nel più dal gli ha ma anche delle dopo"},
	{"pt", "o a os as de do da dos das e em um uma é que por com para não se no na ao mais foi seu são à também pela pelo"},
	{"pl", "i w na z do się że nie jest o to od po przez jak za dla są oraz który która które ale ma był było ze został"},
	{"nl", "de het een en van in is dat op te voor met zijn aan niet door er die om ook bij naar uit dan heeft wordt maar nog over"},
	{"tr", "ve bir bu da de için ile olarak daha çok en gibi olan sonra kadar ise ancak değil var oldu dedi yeni olduğunu göre"},
	{"cs", "a v na se je že s z do o i to jsou za by po jako od jeho který která bylo však byl pro ve už ale než"},
	{"sv", "och att i det som en på är av för med den till inte om har de ett var från vid kan ska efter men sig också"},
}

// wordSets gives for each common word the set of languages that have it, a bit
// for each of commonWords.
var wordSets = sync.OnceValue(func() map[string]uint16 {
	sets := make(map[string]uint16, 400)
	for i, l := range commonWords {
		for _, w := range strings.Fields(l.words) {
			sets[w] |= 1 << i
		}
	}
	return sets
})

// trailing is the number of the lowest language of a set.
func trailing(set uint16) int { return bits.TrailingZeros16(set) }

// latinOnly are the same languages, for the guess by trigrams.
var latinOnly = sync.OnceValue(func() map[whatlanggo.Lang]bool {
	return map[whatlanggo.Lang]bool{
		whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Ita: true, whatlanggo.Por: true,
		whatlanggo.Pol: true, whatlanggo.Nld: true, whatlanggo.Tur: true, whatlanggo.Ces: true, whatlanggo.Swe: true,
	}
})
