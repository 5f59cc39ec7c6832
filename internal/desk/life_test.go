package desk

import "testing"

// TestJobsOfAStoryAreFoundByTheirWholeNumbers holds the keys of jobs against channel 5 and story 12.
func TestJobsOfAStoryAreFoundByTheirWholeNumbers(t *testing.T) {
	t.Parallel()
	for job, want := range map[JobView]bool{
		{Kind: "draft", Key: "5:12"}:             true,
		{Kind: "draft", Key: "5:12:follow_up:1"}: true,
		{Kind: "score", Key: "5:12:1"}:           true,
		{Kind: "score", Key: "5:123:1"}:          false,
		{Kind: "draft", Key: "15:12"}:            false,
		{Kind: "import", Key: "5:12ab34cd"}:      false,
		{Kind: "import", Key: "5:12"}:            false,
	} {
		if got := ofStory(job, 5, 12); got != want {
			t.Errorf("%s %s: %t", job.Kind, job.Key, got)
		}
	}
}
