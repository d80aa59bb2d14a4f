package locks

import (
	"regexp"
	"strings"
)

// masked stands where a secret was.
const masked = "***"

// commandLine joins arguments into one line that may be shown and pasted into
// a report: secrets masked, control characters gone.
func commandLine(argv []string) string {
	return clean(strings.Join(maskSecrets(argv), " "))
}

// maskSecrets hides what follows --token, --api-key and the like, NAME=value
// settings with such a name, passwords in URLs, bearer headers, and values
// that look like keys of well-known services. argv is not changed.
func maskSecrets(argv []string) []string {
	out := make([]string, 0, len(argv))
	hideNext := false
	for _, arg := range argv {
		if hideNext && !strings.HasPrefix(arg, "--") {
			out, hideNext = append(out, masked), false
			continue
		}
		hideNext = false
		name, _, assigned := strings.Cut(arg, "=")
		switch {
		case assigned && secretName(name):
			arg = name + "=" + masked
		case strings.HasPrefix(arg, "-") && secretName(arg):
			hideNext = true
		default:
			arg = urlPassword.ReplaceAllString(arg, "${1}"+masked+"@")
			arg = bearer.ReplaceAllString(arg, "${1}"+masked)
			arg = serviceKey.ReplaceAllString(arg, masked)
			hideNext = strings.EqualFold(arg, "bearer") // text split at blanks
		}
		out = append(out, arg)
	}
	return out
}

var (
	urlPassword = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*:)[^/\s@]*@`)
	bearer      = regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)\S+`)
	serviceKey  = regexp.MustCompile(`\b(?:sk-|ghp_|gho_|github_pat_|hf_|xox[abprs]-|glpat-|AKIA)[A-Za-z0-9_-]{8,}`)
)

// secretName tells whether a flag or variable of this name carries a secret.
// The last word decides about names such as --token-file and TOKEN_URL, which
// only point to one.
func secretName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(strings.TrimLeft(name, "-")), func(r rune) bool {
		return r == '-' || r == '_' || r == '.'
	})
	if len(words) == 0 || pointers[words[len(words)-1]] {
		return false
	}
	for i, w := range words {
		switch w {
		case "token", "secret", "secrets", "password", "passwd", "passphrase", "pwd", "apikey", "auth", "authorization", "bearer", "credential", "credentials", "cookie", "dsn":
			return true
		case "key":
			// --tls-key and --ssl-key take a file.
			if i == 0 || (words[i-1] != "tls" && words[i-1] != "ssl") {
				return true
			}
		}
	}
	return false
}

var pointers = map[string]bool{"file": true, "path": true, "dir": true, "env": true, "url": true, "type": true, "ttl": true, "limit": true, "count": true, "length": true}
