package exact

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets this binary be another process too, see child.
func TestMain(m *testing.M) {
	if role := os.Getenv("CASTELLAN_EXACT_CHILD"); role != "" {
		child(role, os.Getenv("CASTELLAN_EXACT_DIR"))
		return
	}
	goleak.VerifyTestMain(m)
}
