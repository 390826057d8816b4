package history

import "github.com/belay-run/belay/internal/picture"

const (
	maxImage  = 5 << 20 // of base64, that services take
	maxPixels = 8000    // in one direction
)

// imageFlaw is why a service refuses an image, of which the type is what it says it is; empty if it does not.
func imageFlaw(media, data string) Flaw {
	if len(data) > maxImage {
		return LargeImage
	}
	switch kind, side, ok := picture.Look(data); {
	case !ok:
		return BadImage
	case side > maxPixels:
		return LargeImage
	case media != "image/"+kind && media != "image/jpg":
		return WrongImage
	}
	return ""
}
