package language

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article/labelled"
)

func TestLanguageIsWhatTheWordsShow(t *testing.T) {
	t.Parallel()
	russian := strings.Repeat("Мост через гавань снова открыт для движения после долгого ремонта. ", 3)
	english := strings.Repeat("The harbour bridge is open to traffic again after a long repair. ", 3)
	for _, tc := range []struct{ text, declared, want string }{
		{russian, "en-us", "ru"},
		{english, "", "en"},
		{"short", "ru-RU", "ru"},
		{"short", "", ""},
		{"short", "not a tag", ""},
		{english, "EN", "en"},
		{strings.Repeat("я", guessable-1), "", ""},
		{strings.Repeat(" ", 5000) + english, "de", "de"},
		{"", "fr", "fr"},
		// Not told apart from their relatives: what is declared stands, in letters that may be theirs.
		{strings.Repeat("Broen over havnen er åben igen efter tre måneders arbejde, siger borgmesteren i dag. ", 3), "da", "da"},
		{strings.Repeat("Айлақ арқылы өтетін көпір үш айлық жұмыстан кейін қайта ашылды. ", 3), "kk", "kk"},
		{strings.Repeat("Айлақ арқылы өтетін көпір үш айлық жұмыстан кейін қайта ашылды. ", 3), "", ""},
		{russian, "da", "ru"},
		{russian, "bg", "ru"},
		{english, "he", "en"},
		{english, "kk", "kk"},
	} {
		if got := Of(tc.text, tc.declared); got != tc.want {
			t.Errorf("Of(%.20q, %q) = %q, want %q", tc.text, tc.declared, got, tc.want)
		}
	}
}

// reports is one piece of news in each of the languages that are told apart.
var reports = map[string]string{
	"en": "The bridge across the harbour is open again after three months of work. The mayor said on Monday that the repair had cost less than planned, and that the second lane would follow in the autumn. People who live nearby had complained about the noise for weeks. Buses will take the old route from tomorrow, while lorries still have to use the tunnel.",
	"ru": "Мост через гавань снова открыт после трёх месяцев работ. Мэр сказал в понедельник, что ремонт обошёлся дешевле, чем планировали, а вторую полосу откроют осенью. Жители соседних домов несколько недель жаловались на шум. Автобусы с завтрашнего дня пойдут по прежнему маршруту, а грузовикам пока придётся ездить через тоннель.",
	"uk": "Міст через гавань знову відкрито після трьох місяців робіт. Мер сказав у понеділок, що ремонт обійшовся дешевше, ніж планували, а другу смугу відкриють восени. Мешканці сусідніх будинків кілька тижнів скаржилися на шум. Автобуси від завтра підуть колишнім маршрутом, а вантажівкам поки що доведеться їздити через тунель.",
	"be": "Мост праз гавань зноў адкрыты пасля трох месяцаў работ. Мэр сказаў у панядзелак, што рамонт абышоўся таней, чым планавалі, а другую паласу адкрыюць увосень. Жыхары суседніх дамоў некалькі тыдняў скардзіліся на шум. Аўтобусы з заўтрашняга дня пойдуць па ранейшым маршруце, а грузавікам пакуль давядзецца ездзіць праз тунэль.",
	"bg": "Мостът над пристанището отново е отворен след три месеца работа. Кметът каза в понеделник, че ремонтът е струвал по-малко от планираното и че втората лента ще бъде готова през есента. Хората, които живеят наблизо, седмици наред се оплакваха от шума. Автобусите ще минават по стария маршрут от утре, а камионите все още трябва да използват тунела.",
	"sr": "Мост преко луке поново је отворен после три месеца радова. Градоначелник је у понедељак рекао да је поправка коштала мање него што је планирано и да ће друга трака бити готова на јесен. Људи који живе у близини недељама су се жалили на буку. Аутобуси ће од сутра ићи старим путем, док камиони и даље морају да користе тунел.",
	"de": "Die Brücke über den Hafen ist nach drei Monaten Arbeit wieder geöffnet. Der Bürgermeister sagte am Montag, die Reparatur habe weniger gekostet als geplant, und die zweite Spur solle im Herbst folgen. Die Anwohner hatten sich wochenlang über den Lärm beschwert. Busse fahren ab morgen wieder auf der alten Strecke, während Lastwagen noch den Tunnel benutzen müssen.",
	"fr": "Le pont qui traverse le port est de nouveau ouvert après trois mois de travaux. Le maire a déclaré lundi que la réparation avait coûté moins cher que prévu et que la deuxième voie suivrait à l'automne. Les riverains se plaignaient du bruit depuis des semaines. Les bus reprendront demain leur ancien itinéraire, tandis que les camions doivent encore passer par le tunnel.",
	"es": "El puente que cruza el puerto está abierto de nuevo después de tres meses de obras. El alcalde dijo el lunes que la reparación había costado menos de lo previsto y que el segundo carril estará listo en otoño. Los vecinos llevaban semanas quejándose del ruido. Los autobuses volverán mañana a su antiguo recorrido, mientras que los camiones todavía tienen que usar el túnel.",
	"it": "Il ponte sul porto è di nuovo aperto dopo tre mesi di lavori. Il sindaco ha detto lunedì che la riparazione è costata meno del previsto e che la seconda corsia sarà pronta in autunno. Gli abitanti della zona si lamentavano del rumore da settimane. Da domani gli autobus torneranno sul vecchio percorso, mentre i camion devono ancora passare dalla galleria.",
	"pt": "A ponte sobre o porto está novamente aberta depois de três meses de obras. O presidente da câmara disse na segunda-feira que a reparação custou menos do que o previsto e que a segunda faixa ficará pronta no outono. Os moradores queixavam-se do barulho há semanas. Os autocarros voltam amanhã ao antigo percurso, enquanto os camiões ainda têm de usar o túnel.",
	"pl": "Most nad portem jest znowu otwarty po trzech miesiącach prac. Burmistrz powiedział w poniedziałek, że remont kosztował mniej, niż planowano, a drugi pas ma być gotowy jesienią. Mieszkańcy okolicznych domów od tygodni skarżyli się na hałas. Autobusy od jutra pojadą dawną trasą, natomiast ciężarówki nadal muszą korzystać z tunelu.",
	"nl": "De brug over de haven is na drie maanden werk weer open. De burgemeester zei maandag dat de reparatie minder heeft gekost dan gepland en dat de tweede rijstrook in het najaar volgt. De mensen die in de buurt wonen klaagden al weken over het lawaai. Bussen rijden vanaf morgen weer over de oude route, terwijl vrachtwagens nog door de tunnel moeten.",
	"tr": "Limanın üzerindeki köprü üç aylık çalışmanın ardından yeniden açıldı. Belediye başkanı pazartesi günü onarımın planlanandan daha ucuza mal olduğunu ve ikinci şeridin sonbaharda hazır olacağını söyledi. Yakında oturanlar haftalardır gürültüden şikâyet ediyordu. Otobüsler yarından itibaren eski güzergâhı kullanacak, kamyonlar ise hâlâ tünelden geçmek zorunda.",
	"cs": "Most přes přístav je po třech měsících prací opět otevřen. Starosta v pondělí řekl, že oprava stála méně, než se plánovalo, a že druhý pruh bude hotový na podzim. Lidé, kteří bydlí poblíž, si celé týdny stěžovali na hluk. Autobusy budou od zítřka jezdit po staré trase, zatímco nákladní auta musí stále používat tunel.",
	"sv": "Bron över hamnen är öppen igen efter tre månaders arbete. Borgmästaren sade på måndagen att reparationen hade kostat mindre än planerat och att det andra körfältet ska vara klart till hösten. De som bor i närheten hade klagat på bullret i flera veckor. Bussarna kör den gamla vägen från och med i morgon, medan lastbilarna fortfarande måste använda tunneln.",
	"ar": "أعيد فتح الجسر فوق الميناء بعد ثلاثة أشهر من العمل. وقال رئيس البلدية يوم الاثنين إن الإصلاح كلف أقل مما كان مخططا له وإن المسار الثاني سيكون جاهزا في الخريف. وكان السكان القريبون قد اشتكوا من الضجيج لأسابيع. وستعود الحافلات غدا إلى طريقها القديم بينما لا تزال الشاحنات مضطرة إلى استخدام النفق.",
	"fa": "پل روی بندر پس از سه ماه کار دوباره باز شد. شهردار روز دوشنبه گفت که تعمیر کمتر از برنامه هزینه داشته و خط دوم در پاییز آماده خواهد شد. مردمی که در نزدیکی زندگی می\u200cکنند هفته\u200cها از سر و صدا شکایت داشتند. اتوبوس\u200cها از فردا از مسیر قدیمی می\u200cروند، در حالی که کامیون\u200cها هنوز باید از تونل استفاده کنند.",
	"he": "הגשר מעל הנמל נפתח שוב אחרי שלושה חודשים של עבודות. ראש העיר אמר ביום שני שהתיקון עלה פחות מהמתוכנן ושהנתיב השני יהיה מוכן בסתיו. התושבים שגרים בסביבה התלוננו על הרעש במשך שבועות. האוטובוסים יחזרו ממחר למסלול הישן, ואילו המשאיות עדיין צריכות להשתמש במנהרה.",
	"hi": "बंदरगाह पर बना पुल तीन महीने के काम के बाद फिर से खुल गया है। महापौर ने सोमवार को कहा कि मरम्मत पर योजना से कम खर्च हुआ और दूसरी लेन शरद ऋतु में तैयार होगी। आसपास रहने वाले लोग कई हफ्तों से शोर की शिकायत कर रहे थे। बसें कल से पुराने रास्ते पर चलेंगी, जबकि ट्रकों को अभी भी सुरंग का उपयोग करना होगा।",
	"ja": "港にかかる橋が三か月の工事を終えて再び開通した。市長は月曜日、修理の費用は計画より少なく、二つ目の車線は秋に完成すると述べた。近くに住む人々は何週間も騒音について苦情を言っていた。バスは明日から元の路線を走るが、トラックはまだトンネルを使わなければならない。工事の間、渡し船は無料で運行されていた。",
	"ko": "항구를 가로지르는 다리가 석 달 동안의 공사를 마치고 다시 열렸다. 시장은 월요일 수리비가 계획보다 적게 들었으며 두 번째 차선은 가을에 완공될 것이라고 말했다. 근처에 사는 사람들은 몇 주 동안 소음에 대해 불평해 왔다. 버스는 내일부터 예전 노선으로 다니지만 트럭은 아직 터널을 이용해야 한다.",
	"zh": "横跨港口的大桥经过三个月的施工后重新开放。市长星期一表示，维修费用低于计划，第二条车道将在秋天完工。住在附近的人们几个星期以来一直抱怨噪音。公共汽车从明天起将恢复原来的路线，而卡车仍然必须使用隧道。施工期间，渡轮免费运行，每天运送大约四千人。市政府感谢居民的耐心，并承诺今后的工程会提前通知。",
}

// TestTheOpeningShowsTheLanguage: what is looked at of a text is enough, in
// every language that is told apart, also where the feed declares another one.
func TestTheOpeningShowsTheLanguage(t *testing.T) {
	t.Parallel()
	for want, text := range reports {
		wrong := "en-us"
		if want == "en" {
			wrong = "de"
		}
		for _, declared := range []string{"", want, wrong} {
			if got := Of(text, declared); got != want {
				t.Errorf("%s declared as %q: %q", want, declared, got)
			}
		}
	}
	for _, it := range labelled.Items() {
		text := it.Text
		if utf8.RuneCountInString(text) < guessable {
			continue
		}
		if got := Of(text, ""); got != it.Language {
			t.Errorf("%.60q: %q, want %q", text, got, it.Language)
		}
		if got := Of(text, "en"); got != it.Language {
			t.Errorf("%.60q declared as English: %q, want %q", text, got, it.Language)
		}
	}
}

// BenchmarkLanguage is what the guess costs a new entry.
func BenchmarkLanguage(b *testing.B) {
	for _, lang := range []string{"en", "ru", "tr"} {
		text := strings.Repeat(reports[lang]+" ", 6)
		b.Run(lang, func(b *testing.B) {
			for b.Loop() {
				Of(text, "")
			}
		})
	}
}
