package shard

import (
	"crypto/sha256"
	"encoding/binary"
)

// LabelLen is how many characters a label has.
const LabelLen = 8

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Label starts a place's API keys and entry links, so that a router in front of several servers finds the place without
// asking any of them, even for keys made later. It isn't secret: whoever has a key learns its place's id anyway.
func Label(placeID string) string {
	sum := sha256.Sum256([]byte("place label\n" + placeID))
	n := binary.BigEndian.Uint64(sum[:])
	var out [LabelLen]byte
	for i := range out {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out[:])
}
