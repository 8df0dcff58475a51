#include "daemon/common/xid.h"

namespace cuzk::daemon {
namespace {

using enum XidVerdict;

constexpr std::string_view kRestart =
    "a program caused this and the card is fine; if the program was cuzkd, restart it and report the error";
constexpr std::string_view kReset =
    "stop all programs that use the card, then nvidia-smi --gpu-reset -i CARD; if the error returns, replace the card";
constexpr std::string_view kReboot =
    "reboot; if the error returns, check how the card is seated, its power and its cooling, then replace it";

constexpr XidRow kXids[] = {
    {13, kProgram, "exception of the compute engine", kRestart},
    {31, kProgram, "page fault in the card's memory", kRestart},
    {43, kProgram, "a program's work was stopped", kRestart},
    {45, kProgram, "work was removed after an error or the end of a program", kRestart},
    {48, kFatal, "uncorrectable memory error", kReset},
    {62, kFatal, "the card's controller halted", kReset},
    {63, kWarning, "a faulty memory row will be replaced at the next reset", kReset},
    {64, kFatal, "a faulty memory row could not be recorded", kReset},
    {74, kFatal, "error of NVLink", kReset},
    {79, kFatal, "the card has fallen off the bus", kReboot},
    {92, kFatal, "many corrected memory errors", kReset},
    {94, kFatal, "uncorrectable memory error, contained in one program", kReset},
    {95, kFatal, "uncorrectable memory error, not contained", kReset},
    {119, kFatal, "the card's system processor does not answer", kReset},
    {120, kFatal, "error of the card's system processor", kReset},
    {140, kFatal, "unrecovered memory error", kReset},
    {143, kFatal, "the card could not be initialized", kReset},
    {154, kFatal, "the driver asks for a recovery", "see that line of the kernel's log, which says what to do"},
};
constexpr XidRow kOther{0, kWarning, "see NVIDIA's catalogue of Xid errors", "journalctl -k --grep Xid shows it"};

}  // namespace

const XidRow& XidRowOf(unsigned long long code) {
  for (const XidRow& row : kXids) {
    if (row.code == code) return row;
  }
  return kOther;
}

}  // namespace cuzk::daemon
