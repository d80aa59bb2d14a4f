// Package embed turns text into vectors as MemPalace and Chroma do: it runs
// all-MiniLM-L6-v2 in Go, from the very files that Chroma keeps, and gives the
// same vectors up to rounding in float32.
//
// A Model is loaded from a directory (Find says which), and is then only read:
// any number of goroutines may use it. A text goes through the tokenizer
// (normalise.go, tokenizer.go), the network (network.go, forward.go) and the
// mean over its tokens. Who made a vector is as important as the vector itself,
// since vectors of different models have the same size and nothing in common:
// identity.go knows the names under which models are recorded.
package embed
