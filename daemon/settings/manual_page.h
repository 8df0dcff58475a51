#pragma once
// Writes a manual page in the man macros of roff.

#include <string>
#include <string_view>

namespace cuzk::daemon {

/// `ManualPage page("cuzkd", 8, "proving daemon"); page.Section("FILES").Item("/etc/x", "What it is."); page.text()`.
/// All texts are plain: what roff would take for markup is escaped.
class ManualPage {
 public:
  /// Heading and the section NAME.
  ManualPage(std::string_view name, int section, std::string_view brief);

  ManualPage& Section(std::string_view title);
  ManualPage& Subsection(std::string_view title);
  ManualPage& Paragraph(std::string_view text);
  /// A term in bold with its explanation indented below it.
  ManualPage& Item(std::string_view term, std::string_view text);
  /// Lines as they are.
  ManualPage& Literal(std::string_view lines);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace cuzk::daemon
