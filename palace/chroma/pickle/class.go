package pickle

// PersistentData is the class chromadb 0.x pickled; 1.x writes a plain dict.
const PersistentData = persistentModule + ".PersistentData"

const persistentModule = "chromadb.segment.impl.vector.local_persistent_hnsw"

// The globals a pickle may name. Three of them only spell "a new, empty
// instance" in the ways Python versions do; none is ever looked up.
const (
	classPersistent  int64 = iota
	classNewObj            // copyreg.__newobj__(cls)
	classReconstruct       // copyreg._reconstructor(cls, object, None)
	classObject
)

func allowed(module, name string) (int64, bool) {
	switch module {
	case persistentModule:
		return classPersistent, name == "PersistentData"
	case "copyreg", "copy_reg":
		switch name {
		case "__newobj__":
			return classNewObj, true
		case "_reconstructor":
			return classReconstruct, true
		}
	case "builtins", "__builtin__":
		return classObject, name == "object"
	}
	return 0, false
}

// instance is an object of the class: its state becomes the root.
type instance struct {
	state value
}

func (d *decoder) global(module, name string) error {
	c, ok := allowed(module, name)
	if !ok {
		return &UnsafeError{Offset: d.at, Module: module, Name: name}
	}
	return d.add(value{class, c})
}

// create answers NEWOBJ and REDUCE: only "an empty PersistentData" is understood.
func (d *decoder) create(op byte) error {
	args, err := d.pop()
	if err != nil {
		return err
	}
	callee, err := d.pop()
	if err != nil {
		return err
	}
	if callee.kind != class || args.kind != tuple {
		return d.bad("does not create an object from a class and a tuple")
	}
	a := d.tuples[args.n]
	persistent := value{class, classPersistent}
	var ok bool
	switch {
	case op == opNewObj:
		ok = callee == persistent && len(a) == 0
	case callee.n == classNewObj:
		ok = len(a) == 1 && a[0] == persistent
	case callee.n == classReconstruct:
		ok = len(a) == 3 && a[0] == persistent && a[1] == value{class, classObject} && a[2].kind == none
	}
	if !ok {
		return d.bad("calls something with arguments that index metadata has no use for")
	}
	if len(d.objects) >= maxContainers {
		return d.bad("holds more objects than any index metadata")
	}
	d.objects = append(d.objects, instance{})
	return d.add(value{object, int64(len(d.objects) - 1)})
}

// build gives an object its state: a dict, or (dict, None) as Python writes
// for a class with slots.
func (d *decoder) build() error {
	state, err := d.pop()
	if err != nil {
		return err
	}
	target, err := d.top()
	if err != nil {
		return err
	}
	if state.kind == tuple {
		if t := d.tuples[state.n]; len(t) == 2 && t[1].kind == none {
			state = t[0]
		}
	}
	if target.kind != object || state.kind != dictable {
		return d.bad("sets the state of " + target.kind.String() + " to " + state.kind.String())
	}
	o := &d.objects[target.n]
	if o.state.kind != unset {
		return d.bad("sets the state of an object twice")
	}
	o.state = state
	return nil
}
