package chroma

import "testing"

func TestSeqIDsAreDecodedWhateverTheirStorage(t *testing.T) {
	for _, tc := range []struct {
		in   any
		want SeqID
	}{
		{int64(42), SeqID{42, "integer"}},
		{[]byte{0, 0, 0, 0, 0, 1, 0, 2}, SeqID{65538, "blob"}},
		{[]byte{1, 2, 3}, SeqID{0, "blob"}},
		{[]byte{}, SeqID{0, "blob"}},
		{float64(7), SeqID{7, "real"}},
		{"9", SeqID{9, "text"}},
		{"x", SeqID{0, "text"}},
		{nil, SeqID{0, "null"}},
	} {
		if got := decodeSeqID(tc.in); got != tc.want {
			t.Errorf("%v: %+v", tc.in, got)
		}
	}
}

// The pairs were made by Chroma's own migration, run over integers.
func TestAPoisonedSeqIDGivesBackItsDigits(t *testing.T) {
	for value, want := range map[int64]int64{
		1229822654365841720: 502498,
		0x1111111111111137:  7,
		0x1131323334353637:  1234567,
		0x3132333435363738:  12345678,
	} {
		s := SeqID{value, "integer"}
		if !s.Poisoned() {
			t.Errorf("%x is not seen as poisoned", value)
		}
		if got, ok := s.Repaired(); !ok || got != want {
			t.Errorf("%x: %d, %v", value, got, ok)
		}
	}
	for _, value := range []int64{0, 5, 1 << 53, -1, 0x1111111111111111, 0x11111111111111ff} {
		if got, ok := (SeqID{value, "integer"}).Repaired(); ok {
			t.Errorf("%x: made %d of it", value, got)
		}
	}
	if (SeqID{Value: 1 << 53}).Poisoned() {
		t.Error("2^53 itself is the last sane number")
	}
}
