// Package picture says what an image is, as services look at those that they are sent.
package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif"  // services take these
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"strings"
)

// Look is the type of an image in base64, and its longest side if its beginning says it; ok is false if it cannot be read.
func Look(data string) (kind string, side int, ok bool) {
	all := base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))
	head := make([]byte, 16)
	n, _ := io.ReadFull(all, head)
	if head = head[:n]; bytes.HasPrefix(head, []byte("RIFF")) && bytes.HasSuffix(head[:min(n, 12)], []byte("WEBP")) { // which package image does not know
		kind, ok = "webp", true
	} else if config, is, err := image.DecodeConfig(io.MultiReader(bytes.NewReader(head), all)); err == nil {
		kind, side, ok = is, max(config.Width, config.Height), true
	}
	_, err := io.Copy(io.Discard, all)
	return kind, side, ok && err == nil
}
