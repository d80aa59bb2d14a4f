#include "textflag.h"

// NEON. Registers in every function of this file:
//   R0, R1   the two vectors, moving forward
//   R2       floats left
//   V16-V19  four sums of four lanes, so that one addition need not wait for
//            the last
//   V20      1.0 in each lane. Go's assembler has no vector addition of floats,
//            but x + y is x + y*1 and x - y is x - y*1, both rounded once.
//   F21      the sum of the tail: fewer than 4 floats are taken one by one

#define SUMS_TO_ZERO \
	VEOR V16.B16, V16.B16, V16.B16; \
	VEOR V17.B16, V17.B16, V17.B16; \
	VEOR V18.B16, V18.B16, V18.B16; \
	VEOR V19.B16, V19.B16, V19.B16; \
	VEOR V21.B16, V21.B16, V21.B16

#define ONES \
	FMOVS $1.0, F20; \
	VDUP V20.S[0], V20.S4

// Adds the 16 lanes of V16-V19 and the tail into F16; spoils V17-V19.
#define SUM_V16_TO_V19 \
	VFMLA V20.S4, V17.S4, V16.S4; \
	VFMLA V20.S4, V19.S4, V18.S4; \
	VFMLA V20.S4, V18.S4, V16.S4; \
	VMOV V16.S[1], V17.S[0]; \
	VMOV V16.S[2], V18.S[0]; \
	VMOV V16.S[3], V19.S[0]; \
	FADDS F17, F16, F16; \
	FADDS F19, F18, F18; \
	FADDS F18, F16, F16; \
	FADDS F21, F16, F16

// The arguments are the labels: a macro cannot make up names of its own.
#define DOT_BODY(WIDE, NARROW, TAIL, SUM) \
WIDE: \
	CMP $16, R2; \
	BLT NARROW; \
	VLD1.P 64(R0), [V0.S4, V1.S4, V2.S4, V3.S4]; \
	VLD1.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]; \
	VFMLA V4.S4, V0.S4, V16.S4; \
	VFMLA V5.S4, V1.S4, V17.S4; \
	VFMLA V6.S4, V2.S4, V18.S4; \
	VFMLA V7.S4, V3.S4, V19.S4; \
	SUB $16, R2, R2; \
	B WIDE; \
NARROW: \
	CMP $4, R2; \
	BLT TAIL; \
	VLD1.P 16(R0), [V0.S4]; \
	VLD1.P 16(R1), [V4.S4]; \
	VFMLA V4.S4, V0.S4, V16.S4; \
	SUB $4, R2, R2; \
	B NARROW; \
TAIL: \
	CBZ R2, SUM; \
	FMOVS.P 4(R0), F0; \
	FMOVS.P 4(R1), F4; \
	FMADDS F4, F21, F0, F21; \
	SUB $1, R2, R2; \
	B TAIL; \
SUM:

// func dotNEON(a, b *float32, n int) float32
TEXT ·dotNEON(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
	ONES
	SUMS_TO_ZERO
	DOT_BODY(wide, narrow, tail, sum)
	SUM_V16_TO_V19
	FMOVS F16, ret+24(FP)
	RET

// func dotsNEON(dst, q, r *float32, n, rows int)
TEXT ·dotsNEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R3
	MOVD q+8(FP), R4
	MOVD r+16(FP), R1  // the rows lie without gaps: R1 ends at the next one
	MOVD n+24(FP), R5
	MOVD rows+32(FP), R6
	ONES

row:
	CBZ R6, done
	MOVD R4, R0
	MOVD R5, R2
	SUMS_TO_ZERO
	DOT_BODY(wide, narrow, tail, sum)
	SUM_V16_TO_V19
	FMOVS.P F16, 4(R3)
	SUB $1, R6, R6
	B row

done:
	RET

// func l2NEON(a, b *float32, n int) float32
TEXT ·l2NEON(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
	ONES
	SUMS_TO_ZERO

by16:
	CMP $16, R2
	BLT by4
	VLD1.P 64(R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	VFMLS V20.S4, V4.S4, V0.S4
	VFMLS V20.S4, V5.S4, V1.S4
	VFMLS V20.S4, V6.S4, V2.S4
	VFMLS V20.S4, V7.S4, V3.S4
	VFMLA V0.S4, V0.S4, V16.S4
	VFMLA V1.S4, V1.S4, V17.S4
	VFMLA V2.S4, V2.S4, V18.S4
	VFMLA V3.S4, V3.S4, V19.S4
	SUB $16, R2, R2
	B by16

by4:
	CMP $4, R2
	BLT tail
	VLD1.P 16(R0), [V0.S4]
	VLD1.P 16(R1), [V4.S4]
	VFMLS V20.S4, V4.S4, V0.S4
	VFMLA V0.S4, V0.S4, V16.S4
	SUB $4, R2, R2
	B by4

tail:
	CBZ R2, sum
	FMOVS.P 4(R0), F0
	FMOVS.P 4(R1), F4
	FSUBS F4, F0, F0
	FMADDS F0, F21, F0, F21
	SUB $1, R2, R2
	B tail

sum:
	SUM_V16_TO_V19
	FMOVS F16, ret+24(FP)
	RET
