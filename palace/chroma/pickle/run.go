package pickle

import "errors"

// run executes the file up to STOP and returns the root. A truncation error
// learns here which opcode was cut.
func (d *decoder) run() (value, error) {
	for {
		d.at = d.w.offset()
		op, err := d.w.next()
		if err != nil {
			return value{}, err
		}
		d.op = op
		// Python also takes protocols 0 and 1, which Chroma never wrote. Of those
		// only one that starts by naming code goes on, so that it is called by
		// its name.
		if d.at == 0 && op != opProto && op != opGlobal {
			if op == 0 {
				return value{}, d.bad("begins with zero bytes; the block was never written")
			}
			return value{}, d.bad("does not begin like a pickle of protocol 2 to 5")
		}
		if op == opStop {
			return d.pop()
		}
		if err := d.step(op); err != nil {
			var cut *TruncatedError
			if errors.As(err, &cut) {
				cut.In = opcodeName(op)
			}
			return value{}, err
		}
	}
}

func (d *decoder) step(op byte) error {
	switch op {
	// The five that a file of today consists of come first.
	case opBinUnicode:
		return d.sized(4, d.text)
	case opBinInt:
		n, err := d.w.uint(4)
		if err != nil {
			return err
		}
		return d.push(value{integer, int64(int32(n))})
	case opNone:
		return d.push(value{kind: none})
	case opMark:
		if len(d.marks) >= maxMarks {
			return d.bad("nests deeper than any index metadata")
		}
		d.marks = append(d.marks, len(d.stack))
		return nil
	case opSetItems:
		items, err := d.popMark()
		if err != nil {
			return err
		}
		return d.setItems(items)

	case opProto:
		n, err := d.w.uint(1)
		if err != nil {
			return err
		}
		if n < earliestProtocol || n > highestProtocol {
			return d.bad("declares a pickle protocol other than 2 to 5")
		}
		d.protocol = int(n)
		return nil
	case opFrame: // a hint for buffering; only its bound is of interest
		return d.sized(8, d.w.has)

	case opBinInt1:
		return d.small(1)
	case opBinInt2:
		return d.small(2)
	case opLong1:
		return d.sized(1, d.long)
	case opLong4:
		return d.sized(4, func(n uint64) error {
			if n > 1<<31-1 {
				return d.bad("declares a negative length")
			}
			return d.long(n)
		})
	case opNewTrue:
		return d.push(value{boolean, 1})
	case opNewFalse:
		return d.push(value{boolean, 0})
	case opBinFloat:
		if err := d.w.skip(8); err != nil {
			return err
		}
		return d.push(value{kind: float})
	case opShortUnicode:
		return d.sized(1, d.text)
	case opBinUnicode8:
		return d.sized(8, d.text)
	case opShortBinBytes:
		return d.sized(1, d.bytes)
	case opBinBytes:
		return d.sized(4, d.bytes)
	case opBinBytes8, opByteArray8:
		return d.sized(8, d.bytes)
	}
	return d.shuffle(op)
}

// shuffle is step for the opcodes that move, name and combine values.
func (d *decoder) shuffle(op byte) error {
	switch op {
	case opMemoize:
		return d.put(uint64(d.filled))
	case opBinPut:
		return d.sized(1, d.put)
	case opLongBinPut:
		return d.sized(4, d.put)
	case opBinGet:
		return d.sized(1, d.get)
	case opLongBinGet:
		return d.sized(4, d.get)

	case opEmptyDict:
		return d.newDict()
	case opSetItem:
		n := len(d.stack)
		if n-d.fence() < 3 {
			return d.bad("needs a value where there is none")
		}
		items := d.stack[n-2:]
		d.stack = d.stack[:n-2]
		return d.setItems(items)
	case opEmptyTuple:
		return d.newTuple(nil)
	case opTuple1, opTuple2, opTuple3:
		n, from := int(op-opTuple1)+1, len(d.stack)
		if from-d.fence() < n {
			return d.bad("needs a value where there is none")
		}
		items := d.stack[from-n:]
		d.stack = d.stack[:from-n]
		return d.newTuple(items)
	case opTuple, opFrozenSet, opPopMark:
		items, err := d.popMark()
		switch {
		case err != nil || op == opPopMark:
			return err
		case op == opTuple:
			return d.newTuple(items)
		}
		return d.add(value{kind: opaque})
	case opEmptyList, opEmptySet:
		return d.add(value{kind: opaque})
	case opAppend:
		if _, err := d.pop(); err != nil {
			return err
		}
		return d.swallow()
	case opAppends, opAddItems:
		if _, err := d.popMark(); err != nil {
			return err
		}
		return d.swallow()
	case opPop:
		_, err := d.pop()
		return err
	case opDup:
		v, err := d.top()
		if err != nil {
			return err
		}
		return d.push(v)

	case opNewObj, opReduce:
		return d.create(op)
	case opBuild:
		return d.build()
	}
	return d.named(op)
}

// named is step for the opcodes that reach outside the file.
func (d *decoder) named(op byte) error {
	switch op {
	case opGlobal, opInst:
		module, ok1, err := d.w.line(maxName)
		if err != nil {
			return err
		}
		name, ok2, err := d.w.line(maxName)
		if err != nil {
			return err
		}
		if !ok1 || !ok2 {
			return d.bad("names a module without end")
		}
		if op == opInst { // calls what it names
			return &UnsafeError{Offset: d.at, Module: module, Name: name}
		}
		return d.global(module, name)
	case opStackGlobal:
		name, err := d.pop()
		if err != nil {
			return err
		}
		module, err := d.pop()
		if err != nil {
			return err
		}
		if name.kind != text || module.kind != text {
			return d.bad("names a global by something other than text")
		}
		return d.global(d.texts.all[module.n], d.texts.all[name.n])
	case opExt1, opExt2, opExt4:
		return &UnsafeError{Offset: d.at, Module: "copyreg", Name: "extension registry"}
	case opPersID, opBinPersID:
		return &UnsafeError{Offset: d.at, Module: "pickle", Name: "persistent_load"}
	}
	return d.bad("has no place in index metadata")
}

// sized reads an unsigned number of width bytes and hands it on.
func (d *decoder) sized(width int, then func(uint64) error) error {
	n, err := d.w.uint(width)
	if err != nil {
		return err
	}
	return then(n)
}

func (d *decoder) small(width int) error {
	return d.sized(width, func(n uint64) error { return d.push(value{integer, int64(n)}) })
}

func (d *decoder) bytes(n uint64) error {
	if err := d.w.skip(n); err != nil {
		return err
	}
	return d.add(value{kind: opaque})
}
