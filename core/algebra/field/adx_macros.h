#pragma once
// Assembler macros of the Montgomery arithmetic for x86-64 with mulx and the two carry chains of adcx and adox. To be
// included by the files of assembly alone, once each.
//
// Registers: rsi = a, rbx = b, rcx = p, r8 = -1/p mod 2^64, rdi = r. t0 .. tN name the accumulator, which moves down by
// one limb a row: the limb that a reduction clears is the next row's top. The modulus has a clear top bit, so no row
// overflows N+1 limbs and results are below 2p before the last subtraction.

asm(R"(
.intel_syntax noprefix
.text

.macro cuzk_save
  push rbp
  .cfi_adjust_cfa_offset 8
  .cfi_offset rbp, -16
  push rbx
  .cfi_adjust_cfa_offset 8
  .cfi_offset rbx, -24
  push r12
  .cfi_adjust_cfa_offset 8
  .cfi_offset r12, -32
  push r13
  .cfi_adjust_cfa_offset 8
  .cfi_offset r13, -40
  push r14
  .cfi_adjust_cfa_offset 8
  .cfi_offset r14, -48
  push r15
  .cfi_adjust_cfa_offset 8
  .cfi_offset r15, -56
  mov rbx, rdx
.endm
.macro cuzk_restore
  pop r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore r15
  pop r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore r14
  pop r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore r13
  pop r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore r12
  pop rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  pop rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  ret
.endm

# (tl, tl+1) += rdx * word; low halves on the overflow chain, high halves on the carry chain.
.macro cuzk_product word, low, high
  mulx rbp, rax, [\word]
  adox \low, rax
  adcx \high, rbp
.endm
.macro cuzk_reduction word, low, high
  mulx rbp, rax, [\word]
  adcx \low, rax
  adox \high, rbp
.endm

.macro cuzk_reduce6 t0, t1, t2, t3, t4, t5, t6
  mov rdx, r8
  imul rdx, \t0
  xor eax, eax
  cuzk_reduction rcx, \t0, \t1
  cuzk_reduction rcx+8, \t1, \t2
  cuzk_reduction rcx+16, \t2, \t3
  cuzk_reduction rcx+24, \t3, \t4
  cuzk_reduction rcx+32, \t4, \t5
  cuzk_reduction rcx+40, \t5, \t6
  mov eax, 0
  adcx \t6, rax
.endm
# r9 .. r15 = a times the first limb of b.
.macro cuzk_first_row6
  mov rdx, [rbx]
  mulx r10, r9, [rsi]
  mulx r11, rax, [rsi+8]
  add r10, rax
  mulx r12, rax, [rsi+16]
  adc r11, rax
  mulx r13, rax, [rsi+24]
  adc r12, rax
  mulx r14, rax, [rsi+32]
  adc r13, rax
  mulx r15, rax, [rsi+40]
  adc r14, rax
  adc r15, 0
.endm
# t0 .. t6 += a times the limb at \word; t6 is zero before.
.macro cuzk_add_row6 word, t0, t1, t2, t3, t4, t5, t6
  mov rdx, [\word]
  xor eax, eax
  cuzk_product rsi, \t0, \t1
  cuzk_product rsi+8, \t1, \t2
  cuzk_product rsi+16, \t2, \t3
  cuzk_product rsi+24, \t3, \t4
  cuzk_product rsi+32, \t4, \t5
  cuzk_product rsi+40, \t5, \t6
  mov eax, 0
  adox \t6, rax
.endm
.macro cuzk_row6 word, t0, t1, t2, t3, t4, t5, t6
  cuzk_add_row6 \word, \t0, \t1, \t2, \t3, \t4, \t5, \t6
  cuzk_reduce6 \t0, \t1, \t2, \t3, \t4, \t5, \t6
.endm

# r15, r9 .. r13, below 2p, stored reduced at \to.
.macro cuzk_store6 to
  mov rax, r15
  sub rax, [rcx]
  mov rbp, r9
  sbb rbp, [rcx+8]
  mov rdx, r10
  sbb rdx, [rcx+16]
  mov rbx, r11
  sbb rbx, [rcx+24]
  mov rsi, r12
  sbb rsi, [rcx+32]
  mov r8, r13
  sbb r8, [rcx+40]
  cmovc rax, r15
  cmovc rbp, r9
  cmovc rdx, r10
  cmovc rbx, r11
  cmovc rsi, r12
  cmovc r8, r13
  mov [\to], rax
  mov [\to+8], rbp
  mov [\to+16], rdx
  mov [\to+24], rbx
  mov [\to+32], rsi
  mov [\to+40], r8
.endm

.att_syntax prefix
)");
