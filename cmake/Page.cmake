# Puts the style and the scripts into page.html, where it names them, and writes the whole as an array of bytes:
#   cmake -D FOLDER=daemon/http/page -D OUTPUT=page_text.cc -P Page.cmake
# Everything is handled as hexadecimal digits: CMake's lists would take brackets and semicolons apart.
function(hex_of text result)
  file(WRITE "${OUTPUT}.marker" "${text}")
  file(READ "${OUTPUT}.marker" digits HEX)
  file(REMOVE "${OUTPUT}.marker")
  set(${result} "${digits}" PARENT_SCOPE)
endfunction()

file(READ "${FOLDER}/page.html" page HEX)
foreach(part page.css page.js jobs.js devices.js charts.js timeline.js)
  hex_of("{{${part}}}" marker)
  file(READ "${FOLDER}/${part}" text HEX)
  string(FIND "${page}" "${marker}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "page.html does not name {{${part}}}")
  endif()
  string(REPLACE "${marker}" "${text}" page "${page}")
endforeach()
string(REGEX REPLACE "(................................)" "\\1\n" page "${page}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," page "${page}")
file(WRITE "${OUTPUT}" "#include \"daemon/http/page.h\"

namespace cuzk::daemon {
namespace {

constexpr unsigned char kPage[] = {
${page}};

}  // namespace

std::string_view PageText() { return {reinterpret_cast<const char*>(kPage), sizeof kPage}; }

}  // namespace cuzk::daemon
")
