package pickle

// kind says what a value is; the number beside it is the value itself or an
// index into the decoder's tables. Values are 16 bytes and hold no pointers:
// two hundred thousand ids pass through the stack without an allocation each.
type kind uint8

const (
	unset kind = iota // a memo slot nobody has filled
	none
	boolean
	integer  // n is the number
	big      // an integer beyond 64 bits; its digits are not kept
	float    // not kept
	text     // n indexes texts
	dictable // n indexes dicts
	tuple    // n indexes tuples
	class    // n is an allowed global
	object   // n indexes objects
	opaque   // bytes, list, set: read over, never looked into
)

func (k kind) String() string {
	switch k {
	case none:
		return "None"
	case boolean:
		return "a truth value"
	case integer:
		return "a number"
	case big:
		return "a number beyond 64 bits"
	case float:
		return "a fraction"
	case text:
		return "text"
	case dictable:
		return "a dict"
	case tuple:
		return "a tuple"
	case class:
		return "a class"
	case object:
		return "an object"
	}
	return "bytes or a list"
}

type value struct {
	kind kind
	n    int64
}
