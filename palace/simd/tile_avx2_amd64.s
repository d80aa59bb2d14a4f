#include "textflag.h"

// A quarter of the tile of a matrix product with AVX2 and FMA: 6 rows by 16
// columns, whose sums stay in Y0-Y11 (row i in Y2i and Y2i+1). A panel is 32
// columns wide, so its rows lie 128 bytes apart.
//   SI, R10  rows 0 and 3 of a, moving forward; R8 its stride
//   BX       the panel; CX steps left
//   DI       rows of c; R9 its stride

#define ROW(AT, ONE, LOW, HIGH) \
	VBROADCASTSS AT, ONE; \
	VFMADD231PS Y12, ONE, LOW; \
	VFMADD231PS Y13, ONE, HIGH

#define STORE(LOW, HIGH) \
	VADDPS (DI), LOW, LOW; \
	VADDPS 32(DI), HIGH, HIGH; \
	VMOVUPS LOW, (DI); \
	VMOVUPS HIGH, 32(DI); \
	ADDQ R9, DI

// func quarterAVX2(c *float32, cstride int, a *float32, astride int, b *float32, k int)
TEXT ·quarterAVX2(SB), NOSPLIT, $0-48
	MOVQ c+0(FP), DI
	MOVQ cstride+8(FP), R9
	MOVQ a+16(FP), SI
	MOVQ astride+24(FP), R8
	MOVQ b+32(FP), BX
	MOVQ k+40(FP), CX
	SHLQ $2, R8
	SHLQ $2, R9
	LEAQ (R8)(R8*2), AX
	LEAQ (SI)(AX*1), R10
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11

step:
	TESTQ CX, CX
	JZ store
	VMOVUPS (BX), Y12
	VMOVUPS 32(BX), Y13
	ROW((SI), Y14, Y0, Y1)
	ROW((SI)(R8*1), Y15, Y2, Y3)
	ROW((SI)(R8*2), Y14, Y4, Y5)
	ROW((R10), Y15, Y6, Y7)
	ROW((R10)(R8*1), Y14, Y8, Y9)
	ROW((R10)(R8*2), Y15, Y10, Y11)
	ADDQ $4, SI
	ADDQ $4, R10
	ADDQ $128, BX
	DECQ CX
	JMP step

store:
	STORE(Y0, Y1)
	STORE(Y2, Y3)
	STORE(Y4, Y5)
	STORE(Y6, Y7)
	STORE(Y8, Y9)
	STORE(Y10, Y11)
	VZEROUPPER
	RET
