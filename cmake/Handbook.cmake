# Writes a text as an array of bytes: cmake -D INPUT=docs/TROUBLESHOOTING.md -D OUTPUT=handbook_text.cc -P Handbook.cmake
file(READ "${INPUT}" text HEX)
string(REGEX REPLACE "(................................)" "\\1\n" text "${text}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
file(WRITE "${OUTPUT}" "#include \"daemon/http/handbook.h\"

namespace cuzk::daemon {
namespace {

constexpr unsigned char kHandbook[] = {
${text}};

}  // namespace

std::string_view HandbookText() { return {reinterpret_cast<const char*>(kHandbook), sizeof kHandbook}; }

}  // namespace cuzk::daemon
")
