// Montgomery multiplication for 4 and 6 limbs: operand scanning, each row of the product followed by its row of the
// reduction, all limbs of the accumulator in registers.
//
//   void cuzk_mont_mul_N(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv)
//
// r may be a or b.

#if defined(__x86_64__)

#include "core/algebra/field/adx_macros.h"

asm(R"(
.intel_syntax noprefix
.text

.globl cuzk_mont_mul_6
.hidden cuzk_mont_mul_6
.type cuzk_mont_mul_6, @function
.p2align 5
cuzk_mont_mul_6:
  .cfi_startproc
  cuzk_save
  cuzk_first_row6
  cuzk_reduce6 r9, r10, r11, r12, r13, r14, r15
  cuzk_row6 rbx+8, r10, r11, r12, r13, r14, r15, r9
  cuzk_row6 rbx+16, r11, r12, r13, r14, r15, r9, r10
  cuzk_row6 rbx+24, r12, r13, r14, r15, r9, r10, r11
  cuzk_row6 rbx+32, r13, r14, r15, r9, r10, r11, r12
  cuzk_row6 rbx+40, r14, r15, r9, r10, r11, r12, r13
  cuzk_store6 rdi
  cuzk_restore
  .cfi_endproc
.size cuzk_mont_mul_6, . - cuzk_mont_mul_6

.macro cuzk_reduce4 t0, t1, t2, t3, t4
  mov rdx, r8
  imul rdx, \t0
  xor eax, eax
  cuzk_reduction rcx, \t0, \t1
  cuzk_reduction rcx+8, \t1, \t2
  cuzk_reduction rcx+16, \t2, \t3
  cuzk_reduction rcx+24, \t3, \t4
  mov eax, 0
  adcx \t4, rax
.endm
.macro cuzk_row4 word, t0, t1, t2, t3, t4
  mov rdx, [\word]
  xor eax, eax
  cuzk_product rsi, \t0, \t1
  cuzk_product rsi+8, \t1, \t2
  cuzk_product rsi+16, \t2, \t3
  cuzk_product rsi+24, \t3, \t4
  mov eax, 0
  adox \t4, rax
  cuzk_reduce4 \t0, \t1, \t2, \t3, \t4
.endm

.globl cuzk_mont_mul_4
.hidden cuzk_mont_mul_4
.type cuzk_mont_mul_4, @function
.p2align 5
cuzk_mont_mul_4:
  .cfi_startproc
  cuzk_save
  mov rdx, [rbx]
  mulx r10, r9, [rsi]
  mulx r11, rax, [rsi+8]
  add r10, rax
  mulx r12, rax, [rsi+16]
  adc r11, rax
  mulx r13, rax, [rsi+24]
  adc r12, rax
  adc r13, 0
  cuzk_reduce4 r9, r10, r11, r12, r13
  cuzk_row4 rbx+8, r10, r11, r12, r13, r9
  cuzk_row4 rbx+16, r11, r12, r13, r9, r10
  cuzk_row4 rbx+24, r12, r13, r9, r10, r11
  mov rax, r13
  sub rax, [rcx]
  mov rbp, r9
  sbb rbp, [rcx+8]
  mov rdx, r10
  sbb rdx, [rcx+16]
  mov rbx, r11
  sbb rbx, [rcx+24]
  cmovc rax, r13
  cmovc rbp, r9
  cmovc rdx, r10
  cmovc rbx, r11
  mov [rdi], rax
  mov [rdi+8], rbp
  mov [rdi+16], rdx
  mov [rdi+24], rbx
  cuzk_restore
  .cfi_endproc
.size cuzk_mont_mul_4, . - cuzk_mont_mul_4

.att_syntax prefix
)");

#endif
