package chat_test

import (
	"testing"
)

func TestThePlanIsReadAndChanged(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.says("/plan")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	ann.taps("Approve")
	ann.drafts("The second probe follows on Friday.")
	ann.taps("Approve")
	ann.quiet = false
	ann.says("/plan")
	ann.taps("13:00 · 1")
	ann.taps("Time")
	ann.taps("tomorrow 09:00")
	ann.says("/plan")
	ann.taps("›")
	b.golden("plan")
}

func TestATimeIsChosenByWords(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	ann.drafts("The second probe follows on Friday.")
	ann.quiet = false
	ann.taps("Time")
	ann.taps("Another time…")
	ann.says("soon")
	ann.says("today 8:00")
	ann.says("tomorrow 9:30")
	ann.says("/drafts")
	ann.taps("1")
	ann.taps("Time")
	ann.taps("Another time…")
	ann.says("tomorrow 9:30") // taken
	ann.says("/cancel")
	b.golden("time")
}

func TestWhatWasDroppedIsSaved(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	b.paper.prints("Rocket reaches orbit", rocketText, "")
	ann := b.person("Ann", "en")
	ann.reads("Space Daily", "space_daily")
	b.exec(`UPDATE channels SET look_for = 'rocket, orbit', avoid = 'museum', threshold = 70`)
	ann.forgets()
	ann.says("/dropped")
	b.paper.prints("Bridge opens again", bridgeText, "")
	b.paper.prints("Museum shows letters of sailors", museumText, "")
	ann.polls()
	ann.says("/dropped")
	ann.taps("Draft 1")
	ann.says("/dropped")
	ann.taps("‹ Day before")
	b.golden("dropped")
}

func TestWhyTellsALife(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	b.paper.prints("Rocket reaches orbit", rocketText, "")
	ann := b.person("Ann", "en")
	ann.reads("Space Daily", "space_daily")
	ann.quiet = true
	ann.taps("Approve")
	ann.taps("Undo")
	ann.taps("Post now")
	ann.quiet = false
	ann.says("/why")
	ann.says(b.paper.base + "/1")
	ann.says("/why 1")
	ann.taps("Draft 1")
	ann.says("/why 4711")
	b.golden("why")
}

func TestStatusSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ch, _ := ann.works("Space Daily", "space_daily")
	ann.says("/status")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	ann.taps("Approve")
	ann.drafts("The second probe follows on Friday.")
	b.fault(map[string]any{"kind": "lost", "method": "sendmessage", "chat_id": ch.ID, "apply": true})
	ann.taps("Post now")
	ann.drafts("A third one is built.")
	b.fault(map[string]any{"kind": "status", "status": 400, "description": "Bad Request: can't parse entities", "method": "sendmessage", "chat_id": ch.ID})
	ann.taps("Post now")
	ann.quiet = false
	ann.says("/status")
	ann.taps("2")
	ann.taps("Leave it")
	b.golden("status")
}

func TestPostsAreEditedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	ann.quiet = false
	ann.taps("Post now")
	ann.taps("Edit post")
	ann.says("The probe has reached its orbit.")
	ann.taps("Delete post")
	ann.taps("‹ Back")
	ann.taps("Delete post")
	ann.taps("Yes, delete it")
	b.golden("post")
}

func TestARewriteIsAskedFor(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	b.paper.prints("Rocket reaches orbit", rocketText+" "+bridgeText+" "+fishText, "")
	ann := b.person("Ann", "en")
	ann.reads("Space Daily", "space_daily")
	ann.forgets()
	ann.taps("Rewrite")
	ann.taps("Shorter")
	ann.taps("Rewrite")
	ann.taps("Say how…")
	ann.says("start with the fish")
	ann.taps("Rewrite")
	ann.taps("Simpler")
	ann.quiet = true
	ann.taps("Rewrite")
	ann.taps("Shorter")
	ann.quiet = false
	ann.taps("Rewrite")
	ann.taps("Shorter") // as short as it gets
	b.golden("rewrite")
}

func TestEverySkipHasAReasonAndAWayBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	boris := b.person("Борис", "ru")
	boris.works("Северный день", "severny")
	boris.quiet = true
	boris.says("Мост открыт после ремонта.")
	boris.taps("Сделать пост")
	boris.quiet = false
	boris.taps("Одобрить")
	boris.taps("Отменить")
	boris.taps("Пропустить")
	boris.taps("повтор")
	boris.taps("Отменить")
	boris.taps("Время")
	boris.taps("Другое время…")
	boris.says("скоро")
	boris.says("завтра 9:30")
	boris.says("/plan")
	boris.says("/drafts")
	boris.says("/status")
	boris.says("/dropped")
	b.golden("russian")
}
