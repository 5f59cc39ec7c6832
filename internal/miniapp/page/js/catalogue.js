// Every text of the interface, one a line: key, English, Russian. {name} is filled
// in; a key that counts has a line for each form of Intl.PluralRules (English
// leaves out those that it lacks). The first line has the languages' tags; a further
// language is a further column. As columns: the keys, then each language.

const rows = `
tag|en|ru
close|Close|Закрыть
cancel|Cancel|Отмена
save|Save|Сохранить
saved|Saved|Сохранено
discard|Discard|Отменить правки
more|Show more|Показать ещё
remove|Remove|Удалить
removed|Removed|Удалено
pause|Pause|Пауза
resume|Resume|Продолжить
resumed|Running again|Снова работает
add|Add|Добавить
copy|Copy|Скопировать
copied|Copied|Скопировано
reload|Reload|Обновить
today|Today|Сегодня
offline|Offline|Нет связи
asking|Slow line|Связь с паузами
tabs|Sections|Разделы
to.content|To the content|К содержанию
tab.plan|Plan|План
tab.drafts|Drafts|Черновики
tab.sources|Sources|Источники
tab.channel|Channel|Канал
tab.activity|Activity|События
tab.billing|Plan & billing|Тариф
trouble|This could not be loaded|Не удалось загрузить
nochannel.title|No channel yet|Канала пока нет
nochannel.text|Link a channel in the chat with the bot: send /start and pick it. It appears here then.|Подключите канал в чате с ботом: отправьте /start и выберите его. Он появится здесь.
session.expired.title|Please open it again|Откройте ещё раз
session.expired.text|Close it, and press the menu button in the chat with the bot.|Закройте страницу и нажмите кнопку меню в чате с ботом.
session.missing.title|Open it from the bot|Откройте из бота
session.missing.text|Press the menu button in the chat with the bot.|Нажмите кнопку меню в чате с ботом.
session.refused.title|You need an invitation|Нужно приглашение
session.refused.text|This bot works by invitation. Ask the person who runs it for a link.|Бот работает по приглашениям. Попросите ссылку у того, кто его держит.
leave.sure|Leave without saving?|Уйти без сохранения?
channel.choose|Channel|Канал
channel.paused|Paused|Пауза
channel.state.no_rights|No right to post|Нет права публиковать
channel.state.kicked|Bot removed|Бот удалён
channel.state.unlinked|Unlinked|Отключён
channel.state.no_rights.text|The bot may not post in this channel. In Telegram: channel → Administrators → the bot → allow “Post messages” {right}.|Боту нельзя публиковать в канале. В Telegram: канал → Администраторы → бот → включите «Публикация сообщений» {right}.
channel.state.kicked.text|The bot is no administrator of the channel any more. Add it again; all settings are kept.|Бот больше не администратор канала. Добавьте его снова: настройки сохранены.
channel.state.unlinked.text|This channel is unlinked. Link it again in the chat; all settings are kept.|Канал отключён. Подключите его снова в чате: настройки сохранены.
accepted|Accepted, job {job}: it will show here when it is done|Принято, задача {job}: появится здесь, когда будет готово
pending|Being worked on, job {job}|В работе, задача {job}
already|Decided before: {what}|Уже решено: {what}
job|job {id}|задача {id}
tokens|{n} tokens|{n} токенов
units|{n} of {max} characters|{n} из {max} знаков
noslot|no free slot|нет свободного слота
approve|Approve|Одобрить
postnow|Post now|Сейчас
postnow.sure|Post in {channel} right now?|Опубликовать в {channel} прямо сейчас?
edit|Edit|Изменить
rewrite|Rewrite|Переписать
rewrite.shorter|Shorter|Короче
rewrite.simpler|Simpler|Проще
rewrite.angle|Another angle|Другой угол
rewrite.own|Or say how|Или скажите как
time|Time|Время
time.choose|When?|Когда?
time.own|Another time|Другое время
time.own.zone|Another time ({zone})|Другое время ({zone})
time.set|Take this time|Взять это время
time.add|Add a time on {day}|Добавить время: {day}
time.remove|Remove {at} on {day}|Убрать {at}: {day}
skip|Skip|Пропустить
skip.because|Say why|Указать причину
skip.why|Why skip it?|Почему пропускаем?
skip.teach|“Off topic” teaches the score what not to propose.|«Не по теме» учит оценку, чего не предлагать.
skip.off_topic|Off topic|Не по теме
skip.old|Old|Устарело
skip.duplicate|Duplicate|Повтор
skip.bad_source|Bad source|Плохой источник
skip.badly_written|Badly written|Плохо написано
skip.missed|Its slot passed|Слот прошёл
skip.other|Other|Другое
undo|Undo|Вернуть
retry|Try again|Повторить
settle.there|It's there|Он там есть
settle.link|Link to the post (may stay empty)|Ссылка на пост (можно оставить пустой)
settle.not_there|Not there, post it|Его нет, опубликовать
settle.not_there.sure|You looked in the channel, and the post is not there?|Вы посмотрели в канале, и поста там нет?
settle.not_there.more|It will be sent once more.|Он будет отправлен ещё раз.
settle.leave|Leave it|Оставить так
post.open|Open|Открыть
post.edit|Edit post|Изменить пост
post.delete|Delete post|Удалить пост
post.delete.sure|Delete the post from the channel?|Удалить пост из канала?
post.noimage|The picture cannot be loaded|Картинка не загружается
post.more|Show all|Показать целиком
post.spoiler|Hidden text, press to show|Скрытый текст, нажмите, чтобы показать
did.moved|Moved to {at}|Перенесён на {at}
did.proposed|Back among the waiting drafts|Снова среди ожидающих
did.unconfirmed|Unconfirmed: look into the channel|Не подтверждён: посмотрите в канал
state.proposed|Waits for you|Ждёт решения
state.scheduled|Scheduled|Запланирован
state.scheduled.at|Scheduled for {at}|Запланирован на {at}
state.publishing|Being posted|Публикуется
state.published|Posted|Опубликован
state.skipped|Skipped|Пропущен
state.skipped.why|Skipped: {why}|Пропущен: {why}
state.failed|Not posted|Не опубликован
state.unconfirmed|Unconfirmed|Не подтверждён
state.deleted|Deleted from the channel|Удалён из канала
failure.other|Certainly not posted ({code}). It can be tried again.|Точно не опубликован ({code}). Можно повторить.
failure.too_long|Not posted: the text is too long. Shorten it, then try again.|Не опубликован: текст слишком длинный. Сократите и повторите.
failure.bad_media|Not posted: Telegram could not fetch the picture. Try again, or without it.|Не опубликован: Telegram не загрузил картинку. Повторите или уберите её.
failure.kicked|Not posted: the bot is no administrator of the channel. Add it, then try again.|Не опубликован: бот не администратор канала. Добавьте его и повторите.
failure.not_approved|Not posted: the text changed after it was approved.|Не опубликован: текст изменился после одобрения.
failure.settled_not_there|You said that it is not there.|Вы сказали, что его там нет.
failure.no_rights|Not posted: the bot may not post in the channel. Give it the right, then try again.|Не опубликован: у бота нет права публиковать. Дайте его и повторите.
failure.bad_markup|Not posted: Telegram refused the markup. Edit the text, then try again.|Не опубликован: Telegram не принял разметку. Измените текст и повторите.
unconfirmed.why|It may have been posted: Telegram did not answer. Searches without a find: {n}. Nothing happens until you decide.|Возможно, опубликован: Telegram не ответил. Безуспешных поисков: {n}. Без вашего решения ничего не произойдёт.
autopilot.at|Goes into the plan by itself {at} unless you object|Сам встанет в план {at}, если вы не против
draft.label|Draft {id}: {title}|Черновик {id}: {title}
draft.number|Draft {id}|Черновик {id}
score|Score|Оценка
reasons|Why it is proposed|Почему предложен
explore|Trial|Проба
explore.why|Below the threshold, proposed to learn what you like|Ниже порога: предложен, чтобы узнать ваш вкус
also|Also: {names}|Также: {names}
evidence|What the source says|Что сказано в источнике
kind.own|Yours|Ваш
kind.digest|Digest|Дайджест
composer.extractive|From the source's own sentences|Из предложений источника
composer.model|Written by the model|Написан моделью
composer.person|Written by a person|Написан человеком
composer.digest|Digest|Дайджест
reason.look_for|Looked for|Ищете
reason.avoid|To avoid|Избегать
reason.liked_words|Words you liked|Слова, что вам нравились
reason.disliked_words|Words you skipped|Слова, что вы пропускали
reason.fresh|Fresh|Свежее
reason.old|Old|Давнее
reason.source|Source|Источник
reason.explore|A trial|Проба
reason.no_topics|No topics set yet|Темы ещё не заданы
reason.rule_age|Too old|Слишком старое
reason.rule_must|A needed word is missing|Нет нужного слова
reason.rule_never|A forbidden word|Запретное слово
reason.rule_pattern|Does not fit the pattern|Не подходит под образец
reason.rule_empty|Nothing to read|Нечего читать
check.names|Names to check|Проверьте имена
check.negation|Check the “not”|Проверьте «не»
check.similar|Like an earlier post|Похож на прежний пост
check.language|In another language than the channel|Не на языке канала
check.numbers|Numbers to check|Проверьте числа
verdict.proposed|proposed|предложено
verdict.explore|trial|проба
verdict.below|below the threshold|ниже порога
verdict.ruled_out|ruled out|отсеяно правилом
verdict.baseline|was there before|было раньше
verdict.rescued|rescued|спасено
drafts.show|Which drafts|Какие черновики
drafts.waiting|Waiting|Ждут
drafts.waiting#one|{n} draft waits|{n} черновик ждёт
drafts.waiting#few||{n} черновика ждут
drafts.waiting#many||{n} черновиков ждут
drafts.waiting#other|{n} drafts wait|{n} черновика ждут
drafts.planned|Planned|В плане
drafts.attention|Need a look|Требуют внимания
drafts.published|Posted|Вышли
drafts.skipped|Skipped|Пропущены
drafts.waiting.none|Nothing waits for you|Ничего не ждёт решения
drafts.waiting.hint|New drafts appear here by themselves when your sources bring something that fits.|Новые черновики появятся сами, когда источники принесут подходящее.
drafts.planned.none|Nothing is planned|План пуст
drafts.planned.hint|Approve a draft, and it takes the next free slot.|Одобрите черновик, и он займёт ближайший слот.
drafts.attention.none|Nothing needs a look|Всё в порядке
drafts.attention.hint|Failed and doubtful posts would be here.|Здесь были бы неудавшиеся и сомнительные посты.
drafts.published.none|Nothing posted yet|Пока ничего не вышло
drafts.published.hint|Posts appear here with their links.|Посты появятся здесь со ссылками.
drafts.skipped.none|Nothing skipped|Ничего не пропущено
drafts.skipped.hint|What you skip stays here and can be taken back.|Пропущенное остаётся здесь, его можно вернуть.
own.new|Own post|Свой пост
own.hint|A link or a text to make a draft of|Ссылка или текст, из которых сделать черновик
own.make|Make a draft|Сделать черновик
own.known|There is a draft of this already|Такой черновик уже есть
format|Format|Оформление
format.b|Bold|Жирный
format.i|Italic|Курсив
format.u|Underlined|Подчёркнутый
format.s|Struck|Зачёркнутый
format.code|Code|Код
format.blockquote|Quotation|Цитата
format.tg-spoiler|Spoiler|Спойлер
preview|As it will look|Как это будет выглядеть
life|Life|История
why|Why?|Почему?
why.hint|A link or a draft's number|Ссылка или номер черновика
plan.lasts|The queue lasts until {at}|Очереди хватит до {at}
plan.empty|The queue is empty|Очередь пуста
plan.late|The next slot is empty|Ближайший слот пуст
plan.end|The queue ends here|Здесь очередь кончается
plan.gaps#one|{n} gap|{n} пробел
plan.gaps#few||{n} пробела
plan.gaps#many||{n} пробелов
plan.gaps#other|{n} gaps|{n} пробела
week.before|The week before|Неделей раньше
week.after|The week after|Неделей позже
day.none|No slots|Нет слотов
slot.free|Free|Свободно
slot.gap|Gap: nothing here yet|Пробел: здесь пусто
slot.here|Move here|Перенести сюда
slot.capped|Left empty by the daily limit|Пусто из-за дневного предела
slot.fill|What goes out {at}?|Что выйдет {at}?
move|Move|Перенести
move.grip|Move “{title}”|Перенести «{title}»
moving|Where to? {title}|Куда? {title}
look|Look|Найти
sources.add|Add a source|Добавить источник
sources.placeholder|Site, feed, @channel…|Сайт, лента, @канал…
sources.find|Search|Поиск
sources.more|Suggestions, OPML|Подборки, OPML
sources.count#one|{n} source|{n} источник
sources.count#few||{n} источника
sources.count#many||{n} источников
sources.count#other|{n} sources|{n} источника
sources.sick#one|{n} in trouble|{n} с ошибкой
sources.sick#few||{n} с ошибкой
sources.sick#many||{n} с ошибкой
sources.sick#other|{n} in trouble|{n} с ошибкой
sources.none|No sources yet|Источников пока нет
sources.none.hint|Paste the address of a site, a feed or a public channel above, or begin with a set.|Вставьте выше адрес сайта, ленты или открытого канала, либо начните с подборки.
packs|Suggested sets|Подборки
import|Import a file|Загрузить файл
export|Export all|Выгрузить всё
health.new|Being read for the first time|Читается впервые
health.paused|Paused here|На паузе
health.gone|Gone: try again or remove it|Пропал: повторите или удалите
health.resting|Rests: beyond your plan|Отдыхает: сверх тарифа
source.failing|Trouble: {code}|Ошибка: {code}
source.not_found|No such page (404)|Нет такой страницы (404)
source.gone|Gone for good (410)|Удалено навсегда (410)
source.forbidden|The site refuses the bot|Сайт не пускает бота
source.rate_limited|Asks to come less often|Просит приходить реже
source.server_error|The site has trouble|Неполадки на сайте
source.timeout|No answer in time|Нет ответа вовремя
source.broken_feed|The feed is damaged|Лента повреждена
source.html_page|A web page instead of a feed|Страница вместо ленты
source.cut_body|The answer broke off|Ответ оборвался
source.no_feed|No feed there|Там нет ленты
source.not_a_feed|That is no feed|Это не лента
source.preview_off|Its public preview is off|Открытый просмотр выключен
source.no_such_host|No such site|Нет такого сайта
source.unreachable|Cannot be reached|Недоступен
source.lastnew|New {ago}|Новое {ago}
source.nothing|Nothing new yet|Нового пока нет
source.week|In 7 days: {items} new, {drafts} proposed|За 7 дней: {items} новых, {drafts} предложено
source.next|next look {ago}|следующая проверка {ago}
spark|In 14 days: {fresh} new, {proposed} proposed|За 14 дней: {fresh} новых, {proposed} предложено
srckind.feed|feed|лента
srckind.site|site|сайт
srckind.telegram|Telegram channel|канал Telegram
srckind.article|article|статья
weight|Weight|Вес
must|Must hold one of these words|Должно быть одно из слов
never|Never with these words|Никогда с этими словами
pattern|Pattern (RE2)|Образец (RE2)
test|Test|Проверка
test.title|How the last of {title} would score|Оценки последнего из {title}
check.now|Check now|Проверить сейчас
remove.sure|Stop following {title}?|Больше не следить за {title}?
remove.more|Drafts that are there stay.|Готовые черновики останутся.
probe|What is it?|Что это?
probe.looking|Looking…|Смотрим…
probe.choices|Several feeds here. Which one?|Здесь несколько лент. Какую?
probe.known|You follow this already|Вы уже следите за ним
follow|Follow|Следить
followed|Following {title}|Теперь следим: {title}
owners.only|Only owners change these settings.|Эти настройки меняют только владельцы.
publishing|Publishing|Публикация
running.now|Posts go out at their slots.|Посты выходят в свои слоты.
paused.now|Nothing goes out until you resume.|Ничего не выходит, пока на паузе.
topics|Topics|Темы
voice|Voice|Голос
slots|Slots|Слоты
autopilot|Autopilot|Автопилот
autopilot.hint|There is always time to undo, and a recap each day.|Всегда есть время отменить, и каждый день приходит сводка.
digest|Digest|Дайджест
people|People|Люди
me|You|Вы
me.language|Language of this page and the chat|Язык страницы и чата
me.notify|Send me the cards in the chat|Присылать мне карточки в чат
set.look_for|Look for|Искать
set.look_for.hint|In your words: what the channel is about|Своими словами: о чём канал
set.avoid|Avoid|Избегать
set.avoid.hint|What should never be proposed|Чего не предлагать
set.threshold|Threshold|Порог
set.threshold.hint|Stories below this score are not proposed|Истории с меньшей оценкой не предлагаются
set.language|Language of the posts|Язык постов
set.tone|Tone|Тон
set.tone.hint|One rule a line|По правилу на строку
set.footer|Footer|Подпись
set.footer.hint|Below every post|Под каждым постом
set.link_style|Link|Ссылка
set.link_style.title|In the headline|В заголовке
set.link_style.bottom|At the end|В конце
set.link_style.none|None|Без ссылки
set.image_style|Image|Картинка
set.image_style.preview|Preview above the text|Превью над текстом
set.image_style.photo|Photo|Фото
set.image_style.none|None|Без картинки
set.hashtags|Hashtags|Хештеги
set.hashtags.hint|The only ones that a post may carry|Только они могут быть в посте
set.time_zone|Time zone|Часовой пояс
set.week|Slots of the week|Слоты недели
set.quiet_from|Quiet from|Тишина с
set.quiet_to|until|до
set.daily_cap|Posts a day at most (0: no limit)|Постов в день не больше (0: без предела)
set.missed|A slot missed by downtime|Слот, пропущенный из-за простоя
set.missed.move|Move to the next|Перенести на следующий
set.missed.skip|Skip|Пропустить
set.autopilot|Level|Уровень
set.autopilot.off|Off: you decide|Выключен: решаете вы
set.autopilot.delay|After some minutes unless you object|Через несколько минут, если вы не против
set.autopilot.score|At once above a score|Сразу при высокой оценке
set.autopilot_minutes|Minutes to object|Минут на возражение
set.autopilot_score|Score|Оценка
set.autopilot_score.hint|From this score on|Начиная с этой оценки
set.autopilot_sources|Sources (none chosen: all)|Источники (не выбраны: все)
set.digest|Of good items that missed a slot|Из хорошего, чему не хватило слота
set.digest.off|Off|Выключен
set.digest.daily|Daily|Ежедневно
set.digest.weekly|Weekly|Еженедельно
set.digest_at|At|Время
months|Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec|янв фев мар апр мая июн июл авг сен окт ноя дек
day.mon|Mon|Пн
day.tue|Tue|Вт
day.wed|Wed|Ср
day.thu|Thu|Чт
day.fri|Fri|Пт
day.sat|Sat|Сб
day.sun|Sun|Вс
week.copy|Monday's times for Tuesday to Friday|Времена понедельника на вторник–пятницу
role.owner|Owner|Владелец
role.editor|Editor|Редактор
role.viewer|Viewer|Читатель
member.sure|Take {name} out of the channel?|Убрать {name} из канала?
invite.editor|Invite an editor|Пригласить редактора
invite.viewer|Invite a viewer|Пригласить читателя
invite.owner|Invite an owner|Пригласить владельца
invite.link|Invitation|Приглашение
invite.hint|Works once, for a week.|Работает один раз, в течение недели.
now|Now|Сейчас
next.post|Next post {at}|Следующий пост {at}
next.none|No post planned|Постов в плане нет
status.quiet|Nothing is being worked on.|Сейчас ничего не выполняется.
status.scheduled|{n} scheduled|{n} в плане
status.running|Running|Выполняется
status.pending|Pending|Ожидает
status.failing|Failing, will be tried again|С ошибкой, повторится
status.archived|Will not run again by itself|Само не повторится
jobkind.publish|Post|Публикация
jobkind.post_edit|Change of the post|Правка поста
jobkind.post_delete|Deletion of the post|Удаление поста
jobkind.draft|Draft|Черновик
jobkind.compose|Writing|Написание
jobkind.own|Own post|Свой пост
jobkind.score|Score|Оценка
jobkind.import|Import|Импорт
jobkind.autopilot|Autopilot|Автопилот
life.polled|Read from {Source}|Прочитано: {Source}
life.grouped|The same as an earlier story|Та же новость, что раньше
life.scored|Score {Score}|Оценка {Score}
life.drafted|Draft {Draft} written|Написан черновик {Draft}
life.revised|Version {Revision}|Версия {Revision}
life.approved|Planned|В план
life.taken_back|Taken back|Возвращён
life.skipped|Skipped|Пропущен
life.sent|Sent to the channel|Отправлен в канал
life.published|Posted|Вышел
life.failed|Not posted|Не вышел
life.unconfirmed|May have been posted: Telegram did not answer|Возможно, вышел: Telegram не ответил
life.looked|Looked for|Поиск
life.edited|The post was changed|Пост изменён
life.deleted|The post was deleted|Пост удалён
how.answer|Telegram confirmed|подтвердил Telegram
how.preview|found on the public page|найден на открытой странице
how.probe|found by a probe|найден проверкой
how.person|by a person|человеком
how.operator|by an operator|оператором
how.likeness|alike|похоже
how.link|same link|та же ссылка
how.text|same text|тот же текст
how.title|same title|тот же заголовок
how.extractive|from the source|из источника
how.model|by the model|моделью
how.digest|digest|дайджест
finding.there|it is there|он там
finding.not_there|it is not there|его там нет
finding.leave|left as it is|оставлено
finding.nothing_found|nothing found|не найден
month|Last 30 days|Последние 30 дней
month.none|Nothing to show yet.|Пока нечего показать.
chart.score|Mean score of what came in|Средняя оценка пришедшего
chart.approved|Approved: {rate} % of {n}|Одобрено: {rate} % из {n}
chart.approved.words|{approved} approved, {skipped} skipped|{approved} одобрено, {skipped} пропущено
chart.undecided|Nothing decided yet|Решений пока нет
chart.published|Posted: {n}|Вышло: {n}
dropped|Scored too low today|Сегодня ниже порога
dropped.none|Nothing fell through today.|Сегодня ничего не отсеяно.
rescue|Draft it after all|Всё же сделать черновик
rescued|Rescued|Спасено
log|What happened|Что было
log.none|Nothing yet.|Пока ничего.
plan.yours|Your plan|Ваш тариф
plan.free.text|You can take a larger plan at any time.|Больший тариф можно взять в любое время.
plan.renews|Renews on {at}|Продлится {at}
plan.until|Lasts until {at}|Действует до {at}
plan.trial|Trial until {at}|Проба до {at}
plan.take|Take it|Взять
plan.cancel|End the renewal|Отменить продление
plan.cancel.sure|End the renewal? The plan lasts until it was paid for.|Отменить продление? Тариф действует до оплаченного срока.
plan.cancelled|It will not renew|Продления не будет
plans|Plans|Тарифы
billing.off|Everything is free here: nothing is sold.|Здесь всё бесплатно: ничего не продаётся.
billing.help|Questions about a payment: /paysupport in the chat. Terms: /terms.|Вопросы об оплате: /paysupport в чате. Условия: /terms.
quotas|Used|Использовано
quota.channels|Channels|Каналы
quota.sources|Sources|Источники
quota.drafts|Drafts this month|Черновики за месяц
quota.model_drafts|Drafts by the model this month|Черновики модели за месяц
quota.use|{used} of {limit}|{used} из {limit}
days#one|{n} day|{n} день
days#few||{n} дня
days#many||{n} дней
days#other|{n} days|{n} дня
payments|Payments|Платежи
payment.paid|paid|оплачено
payment.refunded|refunded|возвращено
pay.wait|Paid. It shows here once Telegram confirms|Оплачено. Появится здесь после подтверждения
pay.opened|Opened in Telegram|Открыто в Telegram
pay.not|Not paid|Не оплачено
error.offline|No connection. Nothing was lost: try again.|Нет связи. Ничего не потеряно: попробуйте снова.
error.internal|Something went wrong on our side. Try again in a moment.|Что-то сломалось у нас. Попробуйте через минуту.
error.not_yours|This does not exist, or it is not yours.|Этого нет, или это не ваше.
error.role|Your role here does not allow this. Ask an owner.|Ваша роль этого не позволяет. Спросите владельца.
error.no_access|This bot works by invitation.|Бот работает по приглашениям.
error.slot_taken|This slot was just taken. Choose another.|Слот только что заняли. Выберите другой.
error.slot_past|This time has passed. Choose a later one.|Это время прошло. Выберите позже.
error.no_free_slot|The week has no free slot. Add slots in Channel.|На неделе нет свободных слотов. Добавьте их в разделе «Канал».
error.channel_no_rights|The bot may not post in the channel: give it the right to post.|У бота нет права публиковать: дайте его.
error.too_fast|Wait {seconds} s.|Ждите {seconds} с.
error.channel_paused|The channel is paused. Resume it first.|Канал на паузе. Сначала продолжите.
error.channel_rests|Rests: beyond your plan|Отдыхает: сверх тарифа
error.changed|Somebody changed the settings meanwhile: reload them|Кто-то тем временем изменил настройки: обновите их
error.setting|This cannot be: {field} = {value}|Так нельзя: {field} = {value}
error.draft_text|The text cannot be taken: {why}|Текст не принят: {why}
error.post_link|This is no link to a post of this channel.|Это не ссылка на пост этого канала.
error.post_gone|The post is not in the channel any more.|Поста уже нет в канале.
error.not_published|There is no post to change.|Нет поста, который можно изменить.
error.nothing_to_draft|Nothing usable in it.|В этом нечего использовать.
error.busy|Somebody is at it right now. Try again in a moment.|Этим как раз заняты. Попробуйте через минуту.
error.limit|Your plan does not reach that far: {what}, {limit} at most.|Тариф этого не позволяет: {what}, не больше {limit}.
error.last_owner|A channel needs an owner: invite another one first.|Каналу нужен владелец: сначала пригласите другого.
error.source|This address cannot be read. Check it, or paste another.|Адрес не читается. Проверьте его или вставьте другой.
error.too_large|This is too large.|Это слишком большое.
error.session|Open the page again from the bot.|Откройте страницу из бота снова.
`;
export function catalogue() {
  const lines = rows.trim().split('\n').map(line => line.split('|'));
  return lines[0].map((_, column) => lines.map(texts => texts[column]));
}
