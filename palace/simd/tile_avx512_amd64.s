#include "textflag.h"

// The tile of a matrix product with AVX-512: 12 rows by 32 columns, the sums of
// which stay in Z0-Z23 (row i in Z2i and Z2i+1) from the first product to the
// last. Per step: 32 floats of the panel into Z24 and Z25, then one float of
// each row into Z26-Z31, whose rotation lets loads run ahead of the products.
//   SI, R10, R11, R12  rows 0, 3, 6, 9 of a, moving forward; R8 its stride
//   BX                 the panel; CX steps left
//   DI                 rows of c; R9 its stride

#define ROW(AT, ONE, LOW, HIGH) \
	VBROADCASTSS AT, ONE; \
	VFMADD231PS Z24, ONE, LOW; \
	VFMADD231PS Z25, ONE, HIGH

#define STORE(LOW, HIGH) \
	VADDPS (DI), LOW, LOW; \
	VADDPS 64(DI), HIGH, HIGH; \
	VMOVUPS LOW, (DI); \
	VMOVUPS HIGH, 64(DI); \
	ADDQ R9, DI

// func tileAVX512(c *float32, cstride int, a *float32, astride int, b *float32, k int)
TEXT ·tileAVX512(SB), NOSPLIT, $0-48
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
	LEAQ (R10)(AX*1), R11
	LEAQ (R11)(AX*1), R12
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	VPXORQ Z20, Z20, Z20
	VPXORQ Z21, Z21, Z21
	VPXORQ Z22, Z22, Z22
	VPXORQ Z23, Z23, Z23

step:
	TESTQ CX, CX
	JZ store
	VMOVUPS (BX), Z24
	VMOVUPS 64(BX), Z25
	ROW((SI), Z26, Z0, Z1)
	ROW((SI)(R8*1), Z27, Z2, Z3)
	ROW((SI)(R8*2), Z28, Z4, Z5)
	ROW((R10), Z29, Z6, Z7)
	ROW((R10)(R8*1), Z30, Z8, Z9)
	ROW((R10)(R8*2), Z31, Z10, Z11)
	ROW((R11), Z26, Z12, Z13)
	ROW((R11)(R8*1), Z27, Z14, Z15)
	ROW((R11)(R8*2), Z28, Z16, Z17)
	ROW((R12), Z29, Z18, Z19)
	ROW((R12)(R8*1), Z30, Z20, Z21)
	ROW((R12)(R8*2), Z31, Z22, Z23)
	ADDQ $4, SI
	ADDQ $4, R10
	ADDQ $4, R11
	ADDQ $4, R12
	ADDQ $128, BX
	DECQ CX
	JMP step

store:
	STORE(Z0, Z1)
	STORE(Z2, Z3)
	STORE(Z4, Z5)
	STORE(Z6, Z7)
	STORE(Z8, Z9)
	STORE(Z10, Z11)
	STORE(Z12, Z13)
	STORE(Z14, Z15)
	STORE(Z16, Z17)
	STORE(Z18, Z19)
	STORE(Z20, Z21)
	STORE(Z22, Z23)
	VZEROUPPER
	RET
