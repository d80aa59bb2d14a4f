package pickle

import "fmt"

// The opcodes this reader tells apart. Their meaning is that of Python's
// pickletools; the text-based ones of protocol 0 and 1 have no place here.
const (
	opMark           = '('
	opStop           = '.'
	opPop            = '0'
	opPopMark        = '1'
	opDup            = '2'
	opBinBytes       = 'B'
	opShortBinBytes  = 'C'
	opBinFloat       = 'G'
	opBinInt         = 'J'
	opBinInt1        = 'K'
	opBinInt2        = 'M'
	opNone           = 'N'
	opPersID         = 'P'
	opBinPersID      = 'Q'
	opReduce         = 'R'
	opBinUnicode     = 'X'
	opEmptyList      = ']'
	opAppend         = 'a'
	opBuild          = 'b'
	opGlobal         = 'c'
	opAppends        = 'e'
	opBinGet         = 'h'
	opInst           = 'i'
	opLongBinGet     = 'j'
	opBinPut         = 'q'
	opLongBinPut     = 'r'
	opSetItem        = 's'
	opTuple          = 't'
	opSetItems       = 'u'
	opEmptyDict      = '}'
	opEmptyTuple     = ')'
	opProto          = 0x80
	opNewObj         = 0x81
	opExt1           = 0x82
	opExt2           = 0x83
	opExt4           = 0x84
	opTuple1         = 0x85
	opTuple2         = 0x86
	opTuple3         = 0x87
	opNewTrue        = 0x88
	opNewFalse       = 0x89
	opLong1          = 0x8a
	opLong4          = 0x8b
	opShortUnicode   = 0x8c
	opBinUnicode8    = 0x8d
	opBinBytes8      = 0x8e
	opEmptySet       = 0x8f
	opAddItems       = 0x90
	opFrozenSet      = 0x91
	opStackGlobal    = 0x93
	opMemoize        = 0x94
	opFrame          = 0x95
	opByteArray8     = 0x96
	highestProtocol  = 5
	earliestProtocol = 2
)

// opcodeName is Python's name of an opcode, for messages.
func opcodeName(op byte) string {
	switch op {
	case opMark:
		return "MARK"
	case opStop:
		return "STOP"
	case opPop:
		return "POP"
	case opPopMark:
		return "POP_MARK"
	case opDup:
		return "DUP"
	case opBinBytes:
		return "BINBYTES"
	case opShortBinBytes:
		return "SHORT_BINBYTES"
	case opBinFloat:
		return "BINFLOAT"
	case opBinInt:
		return "BININT"
	case opBinInt1:
		return "BININT1"
	case opBinInt2:
		return "BININT2"
	case opPersID:
		return "PERSID"
	case opBinPersID:
		return "BINPERSID"
	case opReduce:
		return "REDUCE"
	case opBinUnicode:
		return "BINUNICODE"
	case opAppend:
		return "APPEND"
	case opBuild:
		return "BUILD"
	case opGlobal:
		return "GLOBAL"
	case opAppends:
		return "APPENDS"
	case opBinGet:
		return "BINGET"
	case opInst:
		return "INST"
	case opLongBinGet:
		return "LONG_BINGET"
	case opBinPut:
		return "BINPUT"
	case opLongBinPut:
		return "LONG_BINPUT"
	case opSetItem:
		return "SETITEM"
	case opTuple, opTuple1, opTuple2, opTuple3:
		return "TUPLE"
	case opSetItems:
		return "SETITEMS"
	case opEmptyDict:
		return "EMPTY_DICT"
	case opProto:
		return "PROTO"
	case opNewObj:
		return "NEWOBJ"
	case opLong1:
		return "LONG1"
	case opLong4:
		return "LONG4"
	case opShortUnicode:
		return "SHORT_BINUNICODE"
	case opBinUnicode8:
		return "BINUNICODE8"
	case opBinBytes8:
		return "BINBYTES8"
	case opAddItems:
		return "ADDITEMS"
	case opFrozenSet:
		return "FROZENSET"
	case opStackGlobal:
		return "STACK_GLOBAL"
	case opMemoize:
		return "MEMOIZE"
	case opFrame:
		return "FRAME"
	case opByteArray8:
		return "BYTEARRAY8"
	}
	return fmt.Sprintf("opcode 0x%02x", op)
}
