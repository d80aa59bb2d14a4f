// Package action runs everything that changes a palace: mine, close, repair,
// migrate, delete, drain. The terminal UI and the command line do it alike:
//
//	plan, err := a.Plan(ctx)              // touches nothing
//	                                      // show it; confirm what Risk asks for
//	run, err := runner.Start(ctx, a, plan)
//	sub := run.Subscribe()                // any number of them, at any time
//	batch, err := sub.Next(ctx)           // until io.EOF, after one Finished
//
// A palace has one run at a time. The run holds the palace lock from before the
// first read that decides anything until everything is verified: a repair that
// locks late loses what others wrote meanwhile (MemPalace #2195, #2562), and
// one that never ends keeps everybody out, so every wait here is bounded or can
// be cancelled.
//
// Nothing here prints, and nothing a subscriber or a disk full of logs does can
// hold up a run.
package action
