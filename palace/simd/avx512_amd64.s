#include "textflag.h"

// AVX-512. Registers in every function of this file:
//   SI, DI  the two vectors, moving forward
//   CX      floats left
//   Z0-Z3   four sums, so that one addition need not wait for the last
// A tail of fewer than 16 floats is loaded under a mask (K1): masked lanes read
// nothing, not even at the end of a page, and count as zero.
// Only AVX-512F is used; that is why zeroing is VPXORQ and not VXORPS.

// Takes 64 floats a turn, then 16, then the tail, into Z0-Z3.
// The arguments are its labels: a macro cannot make up names of its own.
#define DOT_BODY(WIDE, NARROW, TAIL, SUM) \
	VPXORQ Z0, Z0, Z0; \
	VPXORQ Z1, Z1, Z1; \
	VPXORQ Z2, Z2, Z2; \
	VPXORQ Z3, Z3, Z3; \
WIDE: \
	CMPQ CX, $64; \
	JLT NARROW; \
	VMOVUPS (SI), Z4; \
	VMOVUPS 64(SI), Z5; \
	VMOVUPS 128(SI), Z6; \
	VMOVUPS 192(SI), Z7; \
	VFMADD231PS (DI), Z4, Z0; \
	VFMADD231PS 64(DI), Z5, Z1; \
	VFMADD231PS 128(DI), Z6, Z2; \
	VFMADD231PS 192(DI), Z7, Z3; \
	ADDQ $256, SI; \
	ADDQ $256, DI; \
	SUBQ $64, CX; \
	JMP WIDE; \
NARROW: \
	CMPQ CX, $16; \
	JLT TAIL; \
	VMOVUPS (SI), Z4; \
	VFMADD231PS (DI), Z4, Z0; \
	ADDQ $64, SI; \
	ADDQ $64, DI; \
	SUBQ $16, CX; \
	JMP NARROW; \
TAIL: \
	TESTQ CX, CX; \
	JZ SUM; \
	MOVQ $1, AX; \
	SHLQ CX, AX; \
	DECQ AX; \
	KMOVW AX, K1; \
	VMOVUPS.Z (SI), K1, Z4; \
	VMOVUPS.Z (DI), K1, Z5; \
	VFMADD231PS Z5, Z4, Z1; \
SUM:

// Adds the 64 lanes of Z0-Z3 into the lowest lane of X0; spoils Z1.
#define SUM_Z0_TO_Z3 \
	VADDPS Z1, Z0, Z0; \
	VADDPS Z3, Z2, Z2; \
	VADDPS Z2, Z0, Z0; \
	VEXTRACTF64X4 $1, Z0, Y1; \
	VADDPS Y1, Y0, Y0; \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0; \
	VHADDPS X0, X0, X0; \
	VHADDPS X0, X0, X0

// func dotAVX512(a, b *float32, n int) float32
TEXT ·dotAVX512(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	DOT_BODY(wide, narrow, tail, sum)
	SUM_Z0_TO_Z3
	MOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotsAVX512(dst, q, r *float32, n, rows int)
// DI runs through all rows and is at the next one when a row is done, except
// for the tail, which does not move it: R10 keeps the start of the row.
TEXT ·dotsAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), R8
	MOVQ q+8(FP), R9
	MOVQ r+16(FP), R10
	MOVQ n+24(FP), R11
	MOVQ rows+32(FP), R12
	MOVQ R11, R13
	SHLQ $2, R13       // bytes of a row

row:
	TESTQ R12, R12
	JZ done
	MOVQ R9, SI
	MOVQ R10, DI
	MOVQ R11, CX
	DOT_BODY(wide, narrow, tail, sum)
	SUM_Z0_TO_Z3
	MOVSS X0, (R8)
	ADDQ $4, R8
	ADDQ R13, R10
	DECQ R12
	JMP row

done:
	VZEROUPPER
	RET

// func l2AVX512(a, b *float32, n int) float32
TEXT ·l2AVX512(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3

by64:
	CMPQ CX, $64
	JLT by16
	VMOVUPS (SI), Z4
	VMOVUPS 64(SI), Z5
	VMOVUPS 128(SI), Z6
	VMOVUPS 192(SI), Z7
	VSUBPS (DI), Z4, Z4
	VSUBPS 64(DI), Z5, Z5
	VSUBPS 128(DI), Z6, Z6
	VSUBPS 192(DI), Z7, Z7
	VFMADD231PS Z4, Z4, Z0
	VFMADD231PS Z5, Z5, Z1
	VFMADD231PS Z6, Z6, Z2
	VFMADD231PS Z7, Z7, Z3
	ADDQ $256, SI
	ADDQ $256, DI
	SUBQ $64, CX
	JMP by64

by16:
	CMPQ CX, $16
	JLT tail
	VMOVUPS (SI), Z4
	VSUBPS (DI), Z4, Z4
	VFMADD231PS Z4, Z4, Z0
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JMP by16

tail:
	TESTQ CX, CX
	JZ sum
	MOVQ $1, AX
	SHLQ CX, AX
	DECQ AX
	KMOVW AX, K1
	VMOVUPS.Z (SI), K1, Z4
	VMOVUPS.Z (DI), K1, Z5
	VSUBPS Z5, Z4, Z4
	VFMADD231PS Z4, Z4, Z1

sum:
	SUM_Z0_TO_Z3
	MOVSS X0, ret+24(FP)
	VZEROUPPER
	RET
