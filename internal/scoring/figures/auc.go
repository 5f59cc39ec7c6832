// Package figures measures scoring against labelled items. It holds no rule of
// the product; tests and reports use it.
package figures

import "sort"

// Judged is a predicted number and the truth.
type Judged struct {
	P    float64
	Keep bool
}

// AUC returns the area under the ROC curve: the chance that a kept item stands
// above a skipped one, ties counting half.
func AUC(items []Judged) float64 {
	sort.Slice(items, func(i, j int) bool { return items[i].P < items[j].P })
	rankSum, kept := 0.0, 0
	for i := 0; i < len(items); {
		j := i
		for j < len(items) && items[j].P == items[i].P {
			j++
		}
		rank := float64(i+j+1) / 2
		for ; i < j; i++ {
			if items[i].Keep {
				rankSum += rank
				kept++
			}
		}
	}
	skipped := len(items) - kept
	if kept == 0 || skipped == 0 {
		return 0.5
	}
	return (rankSum - float64(kept*(kept+1))/2) / float64(kept*skipped)
}
