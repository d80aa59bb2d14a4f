package theme

import (
	"fmt"
	"math"
	"testing"
)

// luminance and contrast follow WCAG 2.1, "relative luminance" and "contrast ratio".
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	var r, g, b int
	if n, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil || n != 3 {
		t.Fatalf("%q is no colour: %v", hex, err)
	}
	lin := func(v int) float64 {
		c := float64(v) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestEveryRoleIsLegibleOnItsBackgrounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		looks       *[roleCount]look
		backgrounds []string
		need        float64
	}{
		{"dark", darkLooks(), []string{"#000000", "#1e1e1e", "#282c34"}, 4.5},
		{"light", lightLooks(), []string{"#ffffff", "#fdf6e3", "#eeeeee"}, 4.5},
		{"high contrast, dark", contrastDarkLooks(), []string{"#000000", "#1e1e1e", "#282c34"}, 7},
		{"high contrast, light", contrastLightLooks(), []string{"#ffffff", "#fdf6e3", "#eeeeee"}, 7},
	} {
		for r, l := range c.looks {
			need := c.need
			if Role(r) == Border && need < 7 {
				need = 3 // lines, not letters
			}
			for _, bg := range c.backgrounds {
				if l.bg.rgb != "" {
					bg = l.bg.rgb
				}
				if l.fg.rgb == "" {
					if l.bg.rgb != "" {
						t.Errorf("%s: role %d sets a background and leaves the foreground to chance", c.name, r)
					}
					continue
				}
				if got := contrast(t, l.fg.rgb, bg); got < need {
					t.Errorf("%s: role %d has %.2f on %s, needs %.1f", c.name, r, got, bg, need)
				}
			}
		}
	}
}

func TestDimmingIsNotUsedForHighContrast(t *testing.T) {
	t.Parallel()
	for _, looks := range []*[roleCount]look{contrastLooks(), contrastDarkLooks(), contrastLightLooks()} {
		for r, l := range looks {
			if l.faint {
				t.Errorf("role %d is faint", r)
			}
		}
	}
}
