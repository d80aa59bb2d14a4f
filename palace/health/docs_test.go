package health

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryFindingCodeIsExplainedToPeople(t *testing.T) {
	source, err := os.ReadFile("finding.go")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "FINDINGS.md"))
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Code = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 50 {
		t.Fatalf("only %d codes found in finding.go", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(string(docs), "`"+c[1]+"`") {
			t.Errorf("docs/FINDINGS.md does not explain %s", c[1])
		}
	}
}
