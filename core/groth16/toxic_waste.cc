#include <simdjson.h>

#include "core/groth16/generator.h"

namespace cuzk::groth16 {

using algebra::Fr;

ToxicWaste ToxicWaste::Random() {
  return {algebra::RandomFr(), algebra::RandomFr(), algebra::RandomFr(), algebra::RandomFr(), algebra::RandomFr()};
}

StatusOr<ToxicWaste> ToxicWaste::FromJson(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(simdjson::padded_string(json)).get(object) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("toxic waste: not a JSON object");
  }
  ToxicWaste out;
  const std::pair<const char*, Fr*> fields[] = {
      {"alpha", &out.alpha}, {"beta", &out.beta}, {"gamma", &out.gamma}, {"delta", &out.delta}, {"tau", &out.tau}};
  for (auto [key, value] : fields) {
    std::string_view hex;
    if (object[key].get(hex) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(StrCat("toxic waste: no text under \"", key, "\""));
    }
    StatusOr<Bytes32> bytes = Bytes32FromHex(hex);
    if (!bytes.ok()) return Annotate(bytes.status(), StrCat("toxic waste: \"", key, "\""));
    CUZK_ASSIGN_OR_RETURN(*value, algebra::FrFromBytes(*bytes, StrCat("toxic waste: \"", key, "\"")));
  }
  return out;
}

}  // namespace cuzk::groth16
