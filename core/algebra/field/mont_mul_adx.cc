// Montgomery multiplication for 4 and 6 limbs: operand scanning, each row of the product followed by its row of the
// reduction, all limbs of the accumulator in registers.
//
//   void cuzk_mont_mul_N(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv)
//
// r may be a or b. And the sum of n products with one reduction, for the modulus of Fr and 0 < n <= 64:
//
//   void cuzk_fr_dot(uint64_t* r, const uint64_t* a, const uint64_t* b, const uint64_t* p, uint64_t inv, uint64_t n)

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
# t0 .. t4 += a times the limb at \word; t4 is new.
.macro cuzk_add_row4 word, t0, t1, t2, t3, t4
  mov rdx, [\word]
  xor \t4, \t4
  cuzk_product rsi, \t0, \t1
  cuzk_product rsi+8, \t1, \t2
  cuzk_product rsi+16, \t2, \t3
  cuzk_product rsi+24, \t3, \t4
  mov eax, 0
  adox \t4, rax
.endm
.macro cuzk_row4 word, t0, t1, t2, t3, t4
  cuzk_add_row4 \word, \t0, \t1, \t2, \t3, \t4
  cuzk_reduce4 \t0, \t1, \t2, \t3, \t4
.endm

# r13, r9 .. r11, below 2p, stored reduced at rdi.
.macro cuzk_store4
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
.endm
# r9 .. r13 = a times the first limb of b.
.macro cuzk_first_row4
  mov rdx, [rbx]
  mulx r10, r9, [rsi]
  mulx r11, rax, [rsi+8]
  add r10, rax
  mulx r12, rax, [rsi+16]
  adc r11, rax
  mulx r13, rax, [rsi+24]
  adc r12, rax
  adc r13, 0
.endm

.globl cuzk_mont_mul_4
.hidden cuzk_mont_mul_4
.type cuzk_mont_mul_4, @function
.p2align 5
cuzk_mont_mul_4:
  .cfi_startproc
  cuzk_save
  cuzk_first_row4
  cuzk_reduce4 r9, r10, r11, r12, r13
  cuzk_row4 rbx+8, r10, r11, r12, r13, r9
  cuzk_row4 rbx+16, r11, r12, r13, r9, r10
  cuzk_row4 rbx+24, r12, r13, r9, r10, r11
  cuzk_store4
  cuzk_restore
  .cfi_endproc
.size cuzk_mont_mul_4, . - cuzk_mont_mul_4

# Stack: 0 the sum in 9 limbs, 72 inv, 80 n.
.globl cuzk_fr_dot
.hidden cuzk_fr_dot
.type cuzk_fr_dot, @function
.p2align 5
cuzk_fr_dot:
  .cfi_startproc
  cuzk_save
  sub rsp, 88
  .cfi_adjust_cfa_offset 88
  mov [rsp+72], r8
  mov [rsp+80], r9
  xor eax, eax
  .irp k, 0, 8, 16, 24, 32, 40, 48, 56, 64
  mov [rsp+\k], rax
  .endr
  # From the last product to the first, because what is computed last comes first in Poseidon.
  lea rax, [r9-1]
  shl rax, 5
  add rsi, rax
  add rbx, rax
.p2align 4
.Lcuzk_fr_dot_next:
  cuzk_first_row4
  cuzk_add_row4 rbx+8, r10, r11, r12, r13, r14
  cuzk_add_row4 rbx+16, r11, r12, r13, r14, r15
  cuzk_add_row4 rbx+24, r12, r13, r14, r15, r8
  add [rsp], r9
  adc [rsp+8], r10
  adc [rsp+16], r11
  adc [rsp+24], r12
  adc [rsp+32], r13
  adc [rsp+40], r14
  adc [rsp+48], r15
  adc [rsp+56], r8
  adc qword ptr [rsp+64], 0
  sub rsi, 32
  sub rbx, 32
  dec qword ptr [rsp+80]
  jnz .Lcuzk_fr_dot_next
  mov r8, [rsp+72]
  mov r9, [rsp]
  mov r10, [rsp+8]
  mov r11, [rsp+16]
  mov r12, [rsp+24]
  xor r13, r13
  cuzk_reduce4 r9, r10, r11, r12, r13
  cuzk_reduce4 r10, r11, r12, r13, r9
  cuzk_reduce4 r11, r12, r13, r9, r10
  cuzk_reduce4 r12, r13, r9, r10, r11
  add r13, [rsp+32]
  adc r9, [rsp+40]
  adc r10, [rsp+48]
  adc r11, [rsp+56]
  mov rax, [rsp+64]
  adc rax, 0
  # Below 30 p. The quotient by p, at most one too small: 141 / 256 of that by 2^254, for p is 1.811 2^254.
  shld rax, r11, 2
  imul rdx, rax, 141
  shr rdx, 8
  mulx rbp, rax, [rcx]
  sub r13, rax
  sbb r9, rbp
  mulx rbp, rax, [rcx+16]
  sbb r10, rax
  sbb r11, rbp
  mulx rbp, rax, [rcx+8]
  mulx r12, rdx, [rcx+24]
  sub r9, rax
  sbb r10, rbp
  sbb r11, 0
  sub r11, rdx
  cuzk_store4
  add rsp, 88
  .cfi_adjust_cfa_offset -88
  cuzk_restore
  .cfi_endproc
.size cuzk_fr_dot, . - cuzk_fr_dot

.att_syntax prefix
)");

#endif
