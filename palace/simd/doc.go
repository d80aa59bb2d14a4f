// Package simd holds the few loops in which nearly all the time of a search
// and of an embedding model goes: dot products and squared distances of float32
// vectors, matrix products, softmax and GELU.
//
// Each kernel is hand-written assembly with a plain Go twin. Both are tested
// against each other, and the machine chooses once, when the program starts:
// AVX-512, AVX2 with FMA, NEON, or plain Go. Kernel names the choice, so that a
// figure on a screen can say what made it.
//
// The order in which the products of a vector are added depends on the kernel,
// so the last bits of a result may differ between machines; on one machine the
// same input always gives the same bits, one vector at a time or in a batch.
package simd
