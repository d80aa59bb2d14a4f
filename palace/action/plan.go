package action

import (
	"encoding/json"
	"fmt"
	"time"

	"castellan/locks"
)

// Plan is what an action would do, in words and figures for a person to agree
// to. Nobody changes it once it has been given to Start.
type Plan struct {
	// Title names verb and object: "Rebuild the index of work". It is the
	// run's title too.
	Title string
	// Mode is the way it is done, where the action knows several; Reason is why.
	Mode, Reason string

	// Steps in their order, Touches what they change, Leaves what people may
	// fear for and need not.
	Steps, Touches, Leaves []string

	// Backup is the path of the copy that is taken first; "" = none.
	Backup string
	// Bytes on the palace's file system, for the worst case; nil = not known.
	BytesNeeded, BytesFree *int64
	// Estimate of the time; 0 = not known.
	Estimate time.Duration
	// Holders have the palace now.
	Holders []locks.Holder

	Risk Risk
	// TypedName is what a person types to confirm; set when something is
	// destroyed, and only then.
	TypedName string

	// Refusal is why this cannot be started; nil when it can.
	Refusal *RefusedError
}

// Risk is how much confirming a plan needs.
type Risk string

// The risks. The zero value is none of them: an action has to say.
const (
	RiskNone        Risk = "none"        // start at once
	RiskReversible  Risk = "reversible"  // ask; it can be undone
	RiskDestructive Risk = "destructive" // ask for the name
)

// check refuses a plan from which no person could be asked the right question.
func (p Plan) check() error {
	switch {
	case p.Refusal != nil:
		return p.Refusal
	case p.Risk != RiskNone && p.Risk != RiskReversible && p.Risk != RiskDestructive:
		return fmt.Errorf("the plan %q names no risk (%q); this is a defect of Castellan, please report it", p.Title, p.Risk)
	case (p.Risk == RiskDestructive) != (p.TypedName != ""):
		return fmt.Errorf("the plan %q with risk %s names %q to be typed; this is a defect of Castellan, please report it", p.Title, p.Risk, p.TypedName)
	}
	return nil
}

// planDocument is a plan's form for scripts: null where nothing is known, never
// 0 or "", and no list is null. Title, holders and risk are for the person who
// is asked.
type planDocument struct {
	Mode            string        `json:"mode"`
	Reason          string        `json:"reason"`
	Steps           []string      `json:"steps"`
	Touches         []string      `json:"touches"`
	Leaves          []string      `json:"leaves"`
	Backup          *string       `json:"backup"`
	BytesNeeded     *int64        `json:"bytes_needed"`
	BytesFree       *int64        `json:"bytes_free"`
	SecondsEstimate *float64      `json:"seconds_estimate"`
	Refusal         *RefusedError `json:"refusal"`
}

// MarshalJSON gives the "plan" part of a command's document.
func (p Plan) MarshalJSON() ([]byte, error) {
	d := planDocument{
		Mode: p.Mode, Reason: p.Reason,
		Steps: listed(p.Steps), Touches: listed(p.Touches), Leaves: listed(p.Leaves),
		BytesNeeded: p.BytesNeeded, BytesFree: p.BytesFree, Refusal: p.Refusal,
	}
	if p.Backup != "" {
		d.Backup = &p.Backup
	}
	if p.Estimate > 0 {
		s := p.Estimate.Seconds()
		d.SecondsEstimate = &s
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var d planDocument
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	*p = Plan{
		Mode: d.Mode, Reason: d.Reason, Steps: d.Steps, Touches: d.Touches, Leaves: d.Leaves,
		BytesNeeded: d.BytesNeeded, BytesFree: d.BytesFree, Refusal: d.Refusal,
	}
	if d.Backup != nil {
		p.Backup = *d.Backup
	}
	if d.SecondsEstimate != nil {
		p.Estimate = time.Duration(*d.SecondsEstimate * float64(time.Second))
	}
	return nil
}

func listed(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
