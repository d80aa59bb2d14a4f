#include "textflag.h"

// A quarter of the tile of a matrix product with NEON: 6 rows by 16 columns,
// whose sums stay in V0-V23 (row i in V4i to V4i+3). A panel is 32 columns
// wide, so its rows lie 128 bytes apart.
//   R3-R8    the six rows of a, moving forward
//   R2       the panel; R9 steps left
//   R0       rows of c; R1 its stride
//   V24-V27  16 floats of the panel; V28, V29 one float of a row, four times

#define ROW(AT, ONE, S0, S1, S2, S3) \
	VLD1R.P 4(AT), [ONE.S4]; \
	VFMLA V24.S4, ONE.S4, S0.S4; \
	VFMLA V25.S4, ONE.S4, S1.S4; \
	VFMLA V26.S4, ONE.S4, S2.S4; \
	VFMLA V27.S4, ONE.S4, S3.S4

// The sums begin as what c holds: Go's assembler has no vector addition of
// floats to add them with at the end.
#define LOAD(S0, S1, S2, S3) \
	VLD1 (R10), [S0.S4, S1.S4, S2.S4, S3.S4]; \
	ADD R1, R10

#define STORE(S0, S1, S2, S3) \
	VST1 [S0.S4, S1.S4, S2.S4, S3.S4], (R0); \
	ADD R1, R0

// func quarterNEON(c *float32, cstride int, a *float32, astride int, b *float32, k int)
TEXT ·quarterNEON(SB), NOSPLIT, $0-48
	MOVD c+0(FP), R0
	MOVD cstride+8(FP), R1
	MOVD a+16(FP), R3
	MOVD astride+24(FP), R10
	MOVD b+32(FP), R2
	MOVD k+40(FP), R9
	LSL $2, R1
	LSL $2, R10
	ADD R10, R3, R4
	ADD R10, R4, R5
	ADD R10, R5, R6
	ADD R10, R6, R7
	ADD R10, R7, R8
	MOVD R0, R10
	LOAD(V0, V1, V2, V3)
	LOAD(V4, V5, V6, V7)
	LOAD(V8, V9, V10, V11)
	LOAD(V12, V13, V14, V15)
	LOAD(V16, V17, V18, V19)
	LOAD(V20, V21, V22, V23)

step:
	CBZ R9, store
	VLD1 (R2), [V24.S4, V25.S4, V26.S4, V27.S4]
	ADD $128, R2
	ROW(R3, V28, V0, V1, V2, V3)
	ROW(R4, V29, V4, V5, V6, V7)
	ROW(R5, V28, V8, V9, V10, V11)
	ROW(R6, V29, V12, V13, V14, V15)
	ROW(R7, V28, V16, V17, V18, V19)
	ROW(R8, V29, V20, V21, V22, V23)
	SUB $1, R9
	B step

store:
	STORE(V0, V1, V2, V3)
	STORE(V4, V5, V6, V7)
	STORE(V8, V9, V10, V11)
	STORE(V12, V13, V14, V15)
	STORE(V16, V17, V18, V19)
	STORE(V20, V21, V22, V23)
	RET
