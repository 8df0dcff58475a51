#pragma once
// Variables, terms and rows of a rank-1 constraint system (R1CS).

#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "core/algebra/field/fr.h"

namespace cuzk::r1cs {

using algebra::Fr;

/// Input i (input 0 is the constant ONE) or aux i; the two are numbered apart. Ordered: inputs by index, then aux.
class Variable {
 public:
  constexpr Variable() = default;
  static constexpr Variable Input(uint32_t index) { return Variable(index); }
  static constexpr Variable Aux(uint32_t index) { return Variable(index | kAuxFlag); }

  constexpr bool is_aux() const { return (key_ & kAuxFlag) != 0; }
  constexpr uint32_t index() const { return key_ & ~kAuxFlag; }
  /// The sort key: inputs are below every aux.
  constexpr uint32_t key() const { return key_; }
  static constexpr Variable FromKey(uint32_t key) { return Variable(key); }

  // The 0 that is found fault with is the compiler's own. NOLINTNEXTLINE(modernize-use-nullptr)
  friend constexpr auto operator<=>(Variable, Variable) = default;

 private:
  static constexpr uint32_t kAuxFlag = 0x80000000u;
  explicit constexpr Variable(uint32_t key) : key_(key) {}
  uint32_t key_ = 0;
};

/// Input 0, whose value is 1. Circuits do not allocate it.
inline constexpr Variable kOne = Variable::Input(0);

struct Term {
  Variable variable;
  Fr coefficient;
};

/// The three matrices, in the order in which everything lists them.
enum class Matrix : uint8_t { kA = 0, kB = 1, kC = 2 };
inline constexpr size_t kMatrixCount = 3;

/// One constraint <A,w> * <B,w> = <C,w>. The terms of each side are sorted by variable, merged, and non-zero.
struct Row {
  uint64_t index;
  std::array<std::span<const Term>, kMatrixCount> sides;
};

/// Takes the circuit's own rows in order (the rows x * 0 = 0, one per input, are not among them).
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// The spans are valid during the call only.
  virtual void OnRow(const Row& row) = 0;
};

}  // namespace cuzk::r1cs
