package health

import "castellan/locks"

// lockDocument is the lock in the words of the report.
func lockDocument(l locks.PalaceLock) Lock {
	d := Lock{State: string(l.State), Holder: HolderDocument(l.Holder)}
	if l.Path != "" {
		d.Path = &l.Path
	}
	if last := l.LastHolder; last != nil {
		d.LastHolder = &LastHolder{Command: last.Text, Alive: &last.Alive}
		if last.PID != 0 {
			d.LastHolder.PID = &last.PID
		}
	}
	return d
}

// HolderDocument is a holder in the words of the report; what cannot be seen
// of it stays nil.
func HolderDocument(h *locks.Holder) *Holder {
	if h == nil {
		return nil
	}
	d := &Holder{
		Identity: string(h.Identity), Started: Since(h.Started), IdleSeconds: h.IdleSeconds,
		CPUPercent: h.CPUPercent, Parents: parentNames(h.Parents),
	}
	if h.Command != "" {
		d.Command = &h.Command
	}
	if h.PID == 0 {
		return d
	}
	d.PID, d.Orphan = &h.PID, &h.Orphan
	if role := string(h.Role); role != "" {
		d.Role = &role
	}
	return d
}

// OpenerDocuments are the processes that have the palace open, in the words of
// the report.
func OpenerDocuments(list []locks.Opener) []Opener {
	out := make([]Opener, 0, len(list))
	for _, o := range list {
		d := Opener{PID: o.PID, Command: o.Command, Files: make([]string, len(o.Files)), Note: o.Note}
		if d.Note == "" {
			d.Note = string(o.Role)
		}
		for i, f := range o.Files {
			d.Files[i] = f.Path
		}
		out = append(out, d)
	}
	return out
}
