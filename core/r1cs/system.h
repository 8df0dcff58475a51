#pragma once
// What a constraint system offers to a circuit. A circuit is a template over its system, so that one source has three
// readings: ShapeRecorder (rows without values), WitnessWriter (values without rows) and Checker (both).
//
// A system `Cs` has
//   Cs::Id, Cs::Scalar, Cs::Flag   what it knows of a variable: its name, its value, its value if it is boolean; if it
//                                  does not know it, one of the empty types below, whose arithmetic is nothing
//   Cs::kComputes                  whether values exist: inputs of the circuit may be read only then
//   Cs::kNativeBodies              whether gadgets use their faster bodies for the writer
//   Cs::Lc                         a linear combination: Add(num or bit, k), AddShifted(bit, e) for 2^e, AddOne(k)
//   AllocateNum, AllocateBit, AllocateInput   append a variable (no row)
//   Enforce(a, b, c)               appends a row
//   Scope(name, index)             names what is made while the result lives; costs nothing in the writer
//   Broken(relation)               a relation that the circuit closes does not hold; the first is kept
// AllocateBit is only for variables that rows force to 0 or 1: classes and bounds rest on it.

#include <cstdint>

#include "core/r1cs/variable.h"

namespace cuzk::r1cs {

struct NoId {};

/// The value of a whole variable where there are no values.
struct NoScalar {
  static constexpr NoScalar Zero() { return {}; }
  static constexpr NoScalar One() { return {}; }
  constexpr NoScalar Square() const { return {}; }
  friend constexpr NoScalar operator+(NoScalar, NoScalar) { return {}; }
  friend constexpr NoScalar operator-(NoScalar, NoScalar) { return {}; }
  friend constexpr NoScalar operator*(NoScalar, NoScalar) { return {}; }
  friend constexpr NoScalar operator+(NoScalar, const Fr&) { return {}; }
  friend constexpr NoScalar operator*(NoScalar, const Fr&) { return {}; }
  constexpr NoScalar& operator+=(NoScalar) { return *this; }
};

/// The value of a boolean variable where there are no values.
struct NoFlag {
  friend constexpr NoFlag operator&(NoFlag, NoFlag) { return {}; }
  friend constexpr NoFlag operator^(NoFlag, NoFlag) { return {}; }
  constexpr NoFlag operator!() const { return {}; }
};

inline constexpr NoScalar Choose(NoFlag, NoScalar, NoScalar) { return {}; }
inline Fr Choose(bool condition, const Fr& yes, const Fr& no) { return condition ? yes : no; }

/// A variable that may take any field element.
template <class Cs>
struct Num {
  [[no_unique_address]] typename Cs::Id id{};
  [[no_unique_address]] typename Cs::Scalar value{};
};

/// A variable that is 0 or 1.
template <class Cs>
struct Bit {
  [[no_unique_address]] typename Cs::Id id{};
  [[no_unique_address]] typename Cs::Flag value{};
};

/// A value that exists only where values do: `Given<Cs>([&] { return inputs.x; })`.
template <class Cs, class F>
typename Cs::Scalar Given(F&& value) {
  if constexpr (Cs::kComputes) {
    return value();
  } else {
    return {};
  }
}
template <class Cs, class F>
typename Cs::Flag GivenFlag(F&& value) {
  if constexpr (Cs::kComputes) {
    return value();
  } else {
    return {};
  }
}

/// A relation that a circuit checks, with the name for an error.
struct Relation {
  const char* subject;  ///< "comm_r_last path"
  int64_t index = -1;   ///< its number among several of its kind; -1: there is only one
  const char* failing = "does not lead to its root";
};

/// What Scope returns where names cost nothing.
struct NoScope {};

}  // namespace cuzk::r1cs
