package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"castellan/palace/action"
)

// errDeclined ends a command that was not agreed to.
var errDeclined = errors.New("not confirmed; nothing was done")

// confirm asks for what the plan's risk calls for: nothing, yes or no with no
// for an answer to anything else, or the name. --yes answers. What is asked
// goes to standard error, so that the answer on standard output stays alone.
func (a *app) confirm(ctx context.Context, plan action.Plan, question string) error {
	if plan.Risk == action.RiskNone || a.flags.yes {
		return nil
	}
	if !isTerminal(a.In) || !isTerminal(a.Err) {
		return usagef("this asks before it does anything, and there is no terminal to ask on; --yes answers")
	}
	if plan.Risk == action.RiskDestructive {
		if plan.Backup == "" {
			question += " This cannot be undone."
		}
		question = fmt.Sprintf("%s Type %s to go on: ", question, clean(plan.TypedName))
	} else {
		question += " [y/N] "
	}
	if _, err := fmt.Fprint(a.Err, question); err != nil {
		return err
	}
	answer, err := a.readLine(ctx)
	if err != nil {
		return err
	}
	switch {
	case plan.Risk == action.RiskDestructive:
		if answer == plan.TypedName {
			return nil
		}
	case strings.EqualFold(answer, "y"), strings.EqualFold(answer, "yes"):
		return nil
	}
	return errDeclined
}

// readLine reads a line without the white space around it; the end of the input
// is an empty one.
func (a *app) readLine(ctx context.Context) (string, error) {
	line := make(chan string, 1)
	go func() {
		// Left behind on a signal: reading a terminal cannot be cancelled, and
		// the process ends at once.
		s, _ := bufio.NewReader(a.In).ReadString('\n')
		line <- strings.TrimSpace(s)
	}()
	select {
	case s := <-line:
		return s, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
