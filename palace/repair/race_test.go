//go:build race

package repair

// stride is how many steps a kill moves on: the race detector makes each run
// ten times as long, and looks for something else.
const stride = 4
