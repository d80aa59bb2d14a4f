package views

import "testing"

func TestPathsUnderHomeAreShortenedAndNoOthers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/home/u/a":                    "~/a",
		"Close /home/u/a and /home/u/": "Close ~/a and ~/",
		"(/home/u/a)":                  "(~/a)",
		"/mnt/home/u/a":                "/mnt/home/u/a",
		"/home/user/a":                 "/home/user/a",
		"/home/u":                      "/home/u",
	} {
		if got := homely(in, "/home/u"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := homely("/a/b", "/"); got != "/a/b" {
		t.Errorf("%q", got)
	}
}
