package samples

import (
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"math/rand/v2"
)

const (
	pictureWidth  = 800
	pictureHeight = 450
)

// drawLandscape paints a sky, a sun and ranges of hills; the same numbers give
// the same picture.
func drawLandscape(w io.Writer, seed uint64, k int64) error {
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	hue := r.Float64()
	img := image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight))
	sunX, sunY, sunR := 120+r.Float64()*560, 90+r.Float64()*120, 28+r.Float64()*30
	top, low := hsl(hue, .55, .42), hsl(hue+.08, .75, .82)
	for y := range pictureHeight {
		sky := mix(top, low, float64(y)/(pictureHeight*.75))
		for x := range pictureWidth {
			c := sky
			d := math.Hypot(float64(x)-sunX, float64(y)-sunY)
			glow := math.Exp(-math.Max(0, d-sunR) / 60)
			img.SetRGBA(x, y, mix(c, color.RGBA{255, 246, 220, 255}, glow*.9))
		}
	}
	for layer := range 4 {
		drawHills(img, r, layer, hue)
	}
	return jpeg.Encode(w, img, &jpeg.Options{Quality: 82})
}

func drawHills(img *image.RGBA, r *rand.Rand, layer int, hue float64) {
	base := 235 + float64(layer)*55
	tone := hsl(hue+.5+float64(layer)*.02, .30, .52-float64(layer)*.11)
	a, b, c := r.Float64()*7, r.Float64()*7, r.Float64()*7
	for x := range pictureWidth {
		t := float64(x) / pictureWidth * math.Pi * 2
		h := base - 26*math.Sin(t*1.3+a) - 16*math.Sin(t*2.9+b) - 6*math.Sin(t*7.1+c)
		for y := max(0, int(h)); y < pictureHeight; y++ {
			img.SetRGBA(x, y, mix(tone, color.RGBA{20, 26, 34, 255}, float64(y-int(h))/600))
		}
	}
}

func mix(a, b color.RGBA, t float64) color.RGBA {
	t = math.Min(1, math.Max(0, t))
	f := func(x, y uint8) uint8 { return uint8(float64(x)*(1-t) + float64(y)*t) }
	return color.RGBA{f(a.R, b.R), f(a.G, b.G), f(a.B, b.B), 255}
}

func hsl(h, s, l float64) color.RGBA {
	h -= math.Floor(h)
	channel := func(n float64) uint8 {
		k := math.Mod(n+h*12, 12)
		return uint8(255 * (l - s*math.Min(l, 1-l)*math.Max(-1, math.Min(math.Min(k-3, 9-k), 1))))
	}
	return color.RGBA{channel(0), channel(8), channel(4), 255}
}
