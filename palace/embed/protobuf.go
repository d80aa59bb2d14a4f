package embed

import (
	"encoding/binary"
	"fmt"
)

// field is one field of a protobuf message: bytes for a length-delimited one,
// otherwise the number.
type field struct {
	number int
	bytes  []byte
	value  uint64
}

// eachField calls fn for the fields of a message. Lengths are compared with
// what is left before they are used; groups, long gone, are refused.
func eachField(b []byte, fn func(field) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key>>3 == 0 || key>>3 > 1<<29 {
			return fmt.Errorf("a field without a number, %d bytes before the end of its message", len(b))
		}
		b = b[n:]
		f := field{number: int(key >> 3)}
		size := 0
		switch key & 7 {
		case 0:
			if f.value, size = binary.Uvarint(b); size <= 0 {
				return fmt.Errorf("field %d is cut off", f.number)
			}
		case 1, 5:
			if size = 8; key&7 == 5 {
				size = 4
			}
			if len(b) < size {
				return fmt.Errorf("field %d is cut off", f.number)
			}
		case 2:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return fmt.Errorf("field %d says it is %d bytes long and %d are left", f.number, length, len(b))
			}
			f.bytes, size = b[n:n+int(length)], n+int(length)
		default:
			return fmt.Errorf("field %d has the unknown type %d", f.number, key&7)
		}
		b = b[size:]
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}
