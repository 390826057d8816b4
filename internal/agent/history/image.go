package history

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif"  // are what services take
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"strings"
)

const (
	maxImage  = 5 << 20 // of base64, that services take
	maxPixels = 8000    // in one direction
)

// ImageFlaw is why a service refuses an image, of which the type is what it says it is; empty if it does not.
func ImageFlaw(media, data string) Flaw {
	if len(data) > maxImage {
		return LargeImage
	}
	head := base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))
	begin := make([]byte, 512)
	n, _ := io.ReadFull(head, begin)
	if begin = begin[:n]; bytes.HasPrefix(begin, []byte("RIFF")) && n > 16 && string(begin[8:12]) == "WEBP" {
		return typeFlaw(media, "webp")
	}
	config, kind, err := image.DecodeConfig(io.MultiReader(bytes.NewReader(begin), head))
	switch {
	case err != nil:
		return BadImage
	case config.Width > maxPixels || config.Height > maxPixels:
		return LargeImage
	}
	return typeFlaw(media, kind)
}

func typeFlaw(media, kind string) Flaw {
	if media != "image/"+kind && media != "image/jpg" {
		return WrongImage
	}
	return ""
}
