//go:build !race

package repair

const stride = 1
