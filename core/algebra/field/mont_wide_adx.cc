// Products that are completed in 12 limbs before they are reduced.
//
//   void cuzk_mont_square_6(uint64_t* r, const uint64_t* a, const uint64_t* p, uint64_t inv)
//   void cuzk_fp2_mul_6(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv)
//
// The second multiplies in the quadratic extension, c0 then c1 in memory: Karatsuba's three products are combined
// before the two reductions. p must be below 2^382. r may be a or b.

#if defined(__x86_64__)

#include "core/algebra/field/adx_macros.h"

asm(R"(
.intel_syntax noprefix
.text

# The 12 limbs of a times b, rsi and rbx, at \to; r9 .. r15 are the window of the accumulator.
.macro cuzk_wide_row6 word, to, t0, t1, t2, t3, t4, t5, t6
  xor \t6, \t6
  cuzk_add_row6 \word, \t0, \t1, \t2, \t3, \t4, \t5, \t6
  mov [\to], \t0
.endm
.macro cuzk_wide6 to
  cuzk_first_row6
  mov [\to], r9
  cuzk_wide_row6 rbx+8, \to+8, r10, r11, r12, r13, r14, r15, r9
  cuzk_wide_row6 rbx+16, \to+16, r11, r12, r13, r14, r15, r9, r10
  cuzk_wide_row6 rbx+24, \to+24, r12, r13, r14, r15, r9, r10, r11
  cuzk_wide_row6 rbx+32, \to+32, r13, r14, r15, r9, r10, r11, r12
  cuzk_wide_row6 rbx+40, \to+40, r14, r15, r9, r10, r11, r12, r13
  mov [\to+48], r15
  mov [\to+56], r9
  mov [\to+64], r10
  mov [\to+72], r11
  mov [\to+80], r12
  mov [\to+88], r13
.endm

# The 12 limbs at \from, below 2^384 p, reduced to 6 at \to. Uses every register but rdi and rcx.
.macro cuzk_redc6 from, to
  mov r9, [\from]
  mov r10, [\from+8]
  mov r11, [\from+16]
  mov r12, [\from+24]
  mov r13, [\from+32]
  mov r14, [\from+40]
  xor r15, r15
  cuzk_reduce6 r9, r10, r11, r12, r13, r14, r15
  cuzk_reduce6 r10, r11, r12, r13, r14, r15, r9
  cuzk_reduce6 r11, r12, r13, r14, r15, r9, r10
  cuzk_reduce6 r12, r13, r14, r15, r9, r10, r11
  cuzk_reduce6 r13, r14, r15, r9, r10, r11, r12
  cuzk_reduce6 r14, r15, r9, r10, r11, r12, r13
  add r15, [\from+48]
  adc r9, [\from+56]
  adc r10, [\from+64]
  adc r11, [\from+72]
  adc r12, [\from+80]
  adc r13, [\from+88]
  cuzk_store6 \to
.endm

# \a -= \b over 12 limbs; the borrow stays in the carry flag.
.macro cuzk_subtract12 a, b
  mov rax, [\a]
  sub rax, [\b]
  mov [\a], rax
  .irp k, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88
  mov rax, [\a+\k]
  sbb rax, [\b+\k]
  mov [\a+\k], rax
  .endr
.endm
# \to = \a + (\a+48), which does not overflow.
.macro cuzk_sum6 to, a
  mov rax, [\a]
  add rax, [\a+48]
  mov [\to], rax
  .irp k, 8, 16, 24, 32, 40
  mov rax, [\a+\k]
  adc rax, [\a+48+\k]
  mov [\to+\k], rax
  .endr
.endm

# Stack: 0 a0 b0, 96 a1 b1, 192 (a0+a1)(b0+b1), 288 a0+a1, 336 b0+b1, 384 inv.
.globl cuzk_fp2_mul_6
.hidden cuzk_fp2_mul_6
.type cuzk_fp2_mul_6, @function
.p2align 5
cuzk_fp2_mul_6:
  .cfi_startproc
  cuzk_save
  sub rsp, 392
  .cfi_adjust_cfa_offset 392
  mov [rsp+384], r8
  cuzk_sum6 rsp+288, rsi
  cuzk_sum6 rsp+336, rbx
  cuzk_wide6 rsp
  add rsi, 48
  add rbx, 48
  cuzk_wide6 rsp+96
  lea rsi, [rsp+288]
  lea rbx, [rsp+336]
  cuzk_wide6 rsp+192
  cuzk_subtract12 rsp+192, rsp
  cuzk_subtract12 rsp+192, rsp+96
  cuzk_subtract12 rsp, rsp+96
  sbb rax, rax
  mov r9, [rcx]
  mov r10, [rcx+8]
  mov r11, [rcx+16]
  mov r12, [rcx+24]
  mov r13, [rcx+32]
  mov r14, [rcx+40]
  .irp t, r9, r10, r11, r12, r13, r14
  and \t, rax
  .endr
  add [rsp+48], r9
  adc [rsp+56], r10
  adc [rsp+64], r11
  adc [rsp+72], r12
  adc [rsp+80], r13
  adc [rsp+88], r14
  mov r8, [rsp+384]
  cuzk_redc6 rsp, rdi
  mov r8, [rsp+384]
  cuzk_redc6 rsp+192, rdi+48
  add rsp, 392
  .cfi_adjust_cfa_offset -392
  cuzk_restore
  .cfi_endproc
.size cuzk_fp2_mul_6, . - cuzk_fp2_mul_6

# Twice the products of different limbs, then the squares: limbs 2k and 2k+1 become double themselves (carry chain) plus
# a_k^2 (overflow chain). Stack: 0 the square, 96 r, 104 p, 112 inv.
.macro cuzk_square_limbs k, low, high
  mov rdx, [rsi+8*\k]
  mulx rbp, rax, rdx
  adcx \low, \low
  adox \low, rax
  mov [rsp+16*\k], \low
  adcx \high, \high
  adox \high, rbp
  mov [rsp+16*\k+8], \high
.endm
.globl cuzk_mont_square_6
.hidden cuzk_mont_square_6
.type cuzk_mont_square_6, @function
.p2align 5
cuzk_mont_square_6:
  .cfi_startproc
  cuzk_save
  sub rsp, 120
  .cfi_adjust_cfa_offset 120
  mov [rsp+96], rdi
  mov [rsp+104], rbx
  mov [rsp+112], rcx
  mov rdx, [rsi]
  mulx r10, r9, [rsi+8]
  mulx r11, rax, [rsi+16]
  add r10, rax
  mulx r12, rax, [rsi+24]
  adc r11, rax
  mulx r13, rax, [rsi+32]
  adc r12, rax
  mulx r14, rax, [rsi+40]
  adc r13, rax
  adc r14, 0
  mov rdx, [rsi+8]
  xor r15, r15
  cuzk_product rsi+16, r11, r12
  cuzk_product rsi+24, r12, r13
  cuzk_product rsi+32, r13, r14
  cuzk_product rsi+40, r14, r15
  mov eax, 0
  adox r15, rax
  mov rdx, [rsi+16]
  xor ebx, ebx
  cuzk_product rsi+24, r13, r14
  cuzk_product rsi+32, r14, r15
  cuzk_product rsi+40, r15, rbx
  mov eax, 0
  adox rbx, rax
  mov rdx, [rsi+24]
  xor edi, edi
  cuzk_product rsi+32, r15, rbx
  cuzk_product rsi+40, rbx, rdi
  mov eax, 0
  adox rdi, rax
  mov rdx, [rsi+32]
  mulx r8, rax, [rsi+40]
  add rdi, rax
  adc r8, 0
  xor ecx, ecx
  mov rdx, [rsi]
  mulx rbp, rax, rdx
  mov [rsp], rax
  adcx r9, r9
  adox r9, rbp
  mov [rsp+8], r9
  cuzk_square_limbs 1, r10, r11
  cuzk_square_limbs 2, r12, r13
  cuzk_square_limbs 3, r14, r15
  cuzk_square_limbs 4, rbx, rdi
  mov rdx, [rsi+40]
  mulx rbp, rax, rdx
  adcx r8, r8
  adox r8, rax
  mov [rsp+80], r8
  mov eax, 0
  adcx rbp, rax
  adox rbp, rax
  mov [rsp+88], rbp
  mov rdi, [rsp+96]
  mov rcx, [rsp+104]
  mov r8, [rsp+112]
  cuzk_redc6 rsp, rdi
  add rsp, 120
  .cfi_adjust_cfa_offset -120
  cuzk_restore
  .cfi_endproc
.size cuzk_mont_square_6, . - cuzk_mont_square_6

.att_syntax prefix
)");

#endif
