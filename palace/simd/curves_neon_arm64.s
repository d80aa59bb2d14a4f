#include "textflag.h"

// Softmax and GELU with NEON, 4 floats a turn. Go's assembler has few of the
// vector instructions for floats, so the others are given by their code.
//   R0  the row, moving forward; R1 floats left
//   R2  curveTable: constant i lies 32*i bytes in

#define FADD(M, N, D) WORD $(0x4E20D400 | (M)<<16 | (N)<<5 | (D))
#define FSUB(M, N, D) WORD $(0x4EA0D400 | (M)<<16 | (N)<<5 | (D))  // D = N - M
#define FMUL(M, N, D) WORD $(0x6E20DC00 | (M)<<16 | (N)<<5 | (D))
#define FDIV(M, N, D) WORD $(0x6E20FC00 | (M)<<16 | (N)<<5 | (D))  // D = N / M
#define FMAX(M, N, D) WORD $(0x4E20F400 | (M)<<16 | (N)<<5 | (D))
#define FMIN(M, N, D) WORD $(0x4EA0F400 | (M)<<16 | (N)<<5 | (D))
#define FADDP(M, N, D) WORD $(0x6E20D400 | (M)<<16 | (N)<<5 | (D)) // sums of neighbours
#define FMAXP(M, N, D) WORD $(0x6E20F400 | (M)<<16 | (N)<<5 | (D))
#define FRINTN(N, D) WORD $(0x4E218800 | (N)<<5 | (D))             // to the nearest whole number
#define FCVTNS(N, D) WORD $(0x4E21A800 | (N)<<5 | (D))             // the same, as an integer

#define CONST(I, V) \
	ADD $(32*I), R2, R3; \
	VLD1 (R3), [V.S4]

// One step of a polynomial: FROM * BY + CONSTANT into TO.
#define HORNER(CONSTANT, BY, FROM, TO) \
	VMOV CONSTANT.B16, TO.B16; \
	VFMLA BY.S4, FROM.S4, TO.S4

// func softmaxNEON(x *float32, n int, scale float32)
//   V0  the largest of the row; V1 the scale; V2 the sum, then 1 over it
//   V16-V23  constants 0 to 7
TEXT ·softmaxNEON(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD $·curveTable(SB), R2
	VLD1 (R0), [V0.S4]

most:
	VLD1.P 16(R0), [V3.S4]
	FMAX(3, 0, 0)
	SUBS $4, R1
	BNE most
	FMAXP(0, 0, 0)
	FMAXP(0, 0, 0)
	FMOVS scale+16(FP), F1
	VDUP V1.S[0], V1.S4
	VEOR V2.B16, V2.B16, V2.B16
	CONST(0, V16)
	CONST(1, V17)
	CONST(2, V18)
	CONST(3, V19)
	CONST(4, V20)
	CONST(5, V21)
	CONST(6, V22)
	CONST(7, V23)
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1

power:
	VLD1 (R0), [V3.S4]
	FSUB(0, 3, 3)
	FMUL(1, 3, 3)
	FMAX(16, 3, 3)
	FRINTN(3, 4)
	FSUB(4, 3, 3)
	FCVTNS(4, 4)
	HORNER(V18, V3, V17, V5)
	HORNER(V19, V3, V5, V6)
	HORNER(V20, V3, V6, V5)
	HORNER(V21, V3, V5, V6)
	HORNER(V22, V3, V6, V5)
	HORNER(V23, V3, V5, V6)
	VSHL $23, V4.S4, V4.S4
	VADD V23.S4, V4.S4, V4.S4
	FMUL(4, 6, 6)
	FADD(6, 2, 2)
	VST1.P [V6.S4], 16(R0)
	SUBS $4, R1
	BNE power
	FADDP(2, 2, 2)
	FADDP(2, 2, 2)
	FDIV(2, 23, 2)
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1

share:
	VLD1 (R0), [V3.S4]
	FMUL(2, 3, 3)
	VST1.P [V3.S4], 16(R0)
	SUBS $4, R1
	BNE share
	RET

// func geluNEON(x *float32, n int)
//   V0 x, V1 x within the ends, V2 its square, V3 and V4 P, V5 and V6 Q
//   V16-V29  constants 8 to 21; V30 1
TEXT ·geluNEON(SB), NOSPLIT, $0-16
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD $·curveTable(SB), R2
	CONST(8, V16)
	CONST(9, V17)
	CONST(10, V18)
	CONST(11, V19)
	CONST(12, V20)
	CONST(13, V21)
	CONST(14, V22)
	CONST(15, V23)
	CONST(16, V24)
	CONST(17, V25)
	CONST(18, V26)
	CONST(19, V27)
	CONST(20, V28)
	CONST(21, V29)
	CONST(7, V30)

curve:
	VLD1 (R0), [V0.S4]
	FMAX(16, 0, 1)
	FMIN(17, 1, 1)
	FMUL(1, 1, 2)
	HORNER(V19, V2, V18, V3)
	HORNER(V25, V2, V24, V5)
	HORNER(V20, V2, V3, V4)
	HORNER(V26, V2, V5, V6)
	HORNER(V21, V2, V4, V3)
	HORNER(V27, V2, V6, V5)
	HORNER(V22, V2, V3, V4)
	HORNER(V28, V2, V5, V6)
	HORNER(V23, V2, V4, V3)
	HORNER(V30, V2, V6, V5)
	FMUL(1, 3, 3)
	FDIV(5, 3, 3)
	FADD(30, 3, 3)
	FMUL(29, 0, 0)
	FMUL(3, 0, 0)
	VST1.P [V0.S4], 16(R0)
	SUBS $4, R1
	BNE curve
	RET
