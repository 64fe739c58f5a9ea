package api

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"

	"rsc.io/qr"
)

const quiet = 4 // modules of white around a code

// entryQR is the QR code of a valid link.
func entryQR(c *call) (*qr.Code, error) {
	t := c.query.Str("t")
	if _, err := c.api.cfg.Entry.Link(t); err != nil {
		return nil, err
	}
	c.w.Header().Set("Referrer-Policy", "no-referrer")
	return qr.Encode(c.link(t), qr.M)
}

func entryQRSVG(c *call) (any, error) {
	code, err := entryQR(c)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	size := code.Size + 2*quiet
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%dv%dH0z"/><path d="`, size, size, size, size)
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return answer{status: http.StatusOK, kind: "image/svg+xml", body: []byte(b.String())}, nil
}

func entryQRPNG(c *call) (any, error) {
	code, err := entryQR(c)
	if err != nil {
		return nil, err
	}
	const scale = 8
	size := (code.Size + 2*quiet) * scale
	img := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	for y := range size {
		for x := range size {
			if code.Black(x/scale-quiet, y/scale-quiet) {
				img.SetColorIndex(x, y, 1)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, err
	}
	return answer{status: http.StatusOK, kind: "image/png", body: b.Bytes()}, nil
}
