package backend_test

import (
	"fmt"

	"castellan/palace/backend"
)

// Filters are read in the form that MemPalace and Chroma write them in. What is
// not known is refused, never passed over.
func ExampleParseWhere() {
	for _, text := range []string{
		`{"$and": [{"wing": "home"}, {"chunk_index": {"$gte": 2}}]}`,
		`{"wing": {"$like": "h%"}}`,
	} {
		where, err := backend.ParseWhere([]byte(text))
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, m := range []backend.Metadata{
			{"wing": "home", "chunk_index": int64(3)},
			{"wing": "home", "chunk_index": int64(1)},
			{"wing": "work", "chunk_index": int64(3)},
		} {
			fmt.Println(backend.MatchWhere(where, m))
		}
	}
	// Output:
	// true
	// false
	// false
	// filter "$like" is not supported: not an operator Chroma knows for metadata
}
