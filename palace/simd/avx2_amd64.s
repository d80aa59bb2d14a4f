#include "textflag.h"

// AVX2 with FMA. Registers in every function of this file:
//   SI, DI  the two vectors, moving forward
//   CX      floats left
//   Y0-Y3   four sums, so that one addition need not wait for the last
//   X8      the sum of the tail: fewer than 8 floats are taken one by one, for
//           a wide load could reach into a page that is not ours

// The arguments are the labels: a macro cannot make up names of its own.
#define DOT_BODY(WIDE, NARROW, TAIL, SUM) \
	VXORPS Y0, Y0, Y0; \
	VXORPS Y1, Y1, Y1; \
	VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; \
	VXORPS X8, X8, X8; \
WIDE: \
	CMPQ CX, $32; \
	JLT NARROW; \
	VMOVUPS (SI), Y4; \
	VMOVUPS 32(SI), Y5; \
	VMOVUPS 64(SI), Y6; \
	VMOVUPS 96(SI), Y7; \
	VFMADD231PS (DI), Y4, Y0; \
	VFMADD231PS 32(DI), Y5, Y1; \
	VFMADD231PS 64(DI), Y6, Y2; \
	VFMADD231PS 96(DI), Y7, Y3; \
	ADDQ $128, SI; \
	ADDQ $128, DI; \
	SUBQ $32, CX; \
	JMP WIDE; \
NARROW: \
	CMPQ CX, $8; \
	JLT TAIL; \
	VMOVUPS (SI), Y4; \
	VFMADD231PS (DI), Y4, Y0; \
	ADDQ $32, SI; \
	ADDQ $32, DI; \
	SUBQ $8, CX; \
	JMP NARROW; \
TAIL: \
	TESTQ CX, CX; \
	JZ SUM; \
	VMOVSS (SI), X4; \
	VFMADD231SS (DI), X4, X8; \
	ADDQ $4, SI; \
	ADDQ $4, DI; \
	DECQ CX; \
	JMP TAIL; \
SUM:

// Adds the 32 lanes of Y0-Y3 and the tail into the lowest lane of X0; spoils Y1.
#define SUM_Y0_TO_Y3 \
	VADDPS Y1, Y0, Y0; \
	VADDPS Y3, Y2, Y2; \
	VADDPS Y2, Y0, Y0; \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0; \
	VHADDPS X0, X0, X0; \
	VHADDPS X0, X0, X0; \
	VADDSS X8, X0, X0

// func dotAVX2(a, b *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	DOT_BODY(wide, narrow, tail, sum)
	SUM_Y0_TO_Y3
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func dotsAVX2(dst, q, r *float32, n, rows int)
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), R8
	MOVQ q+8(FP), R9
	MOVQ r+16(FP), DI  // the rows lie without gaps: DI ends at the next one
	MOVQ n+24(FP), R11
	MOVQ rows+32(FP), R12

row:
	TESTQ R12, R12
	JZ done
	MOVQ R9, SI
	MOVQ R11, CX
	DOT_BODY(wide, narrow, tail, sum)
	SUM_Y0_TO_Y3
	VMOVSS X0, (R8)
	ADDQ $4, R8
	DECQ R12
	JMP row

done:
	VZEROUPPER
	RET

// func l2AVX2(a, b *float32, n int) float32
TEXT ·l2AVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS X8, X8, X8

by32:
	CMPQ CX, $32
	JLT by8
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VSUBPS (DI), Y4, Y4
	VSUBPS 32(DI), Y5, Y5
	VSUBPS 64(DI), Y6, Y6
	VSUBPS 96(DI), Y7, Y7
	VFMADD231PS Y4, Y4, Y0
	VFMADD231PS Y5, Y5, Y1
	VFMADD231PS Y6, Y6, Y2
	VFMADD231PS Y7, Y7, Y3
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $32, CX
	JMP by32

by8:
	CMPQ CX, $8
	JLT tail
	VMOVUPS (SI), Y4
	VSUBPS (DI), Y4, Y4
	VFMADD231PS Y4, Y4, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JMP by8

tail:
	TESTQ CX, CX
	JZ sum
	VMOVSS (SI), X4
	VSUBSS (DI), X4, X4
	VFMADD231SS X4, X4, X8
	ADDQ $4, SI
	ADDQ $4, DI
	DECQ CX
	JMP tail

sum:
	SUM_Y0_TO_Y3
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET
