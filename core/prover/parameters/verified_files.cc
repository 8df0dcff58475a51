#include "core/prover/parameters/verified_files.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/base/file.h"

namespace cuzk::prover {
namespace {

/// Begins each line: what follows is laid out as LineOf writes it.
constexpr char kForm[] = "verified-1";

}  // namespace

std::string VerifiedFiles::LineOf(const Entry& entry) {
  const FileIdentity& file = entry.identity;
  return StrCat(kForm, " ", file.device, " ", file.inode, " ", file.size, " ", file.modified_ns, " ", file.changed_ns,
                " ", entry.digest, "\n");
}

VerifiedFiles::VerifiedFiles(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  const StatusOr<std::string> text = ReadFile(path_, uint64_t{1} << 20);
  if (!text.ok()) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string form, rest;
    Entry entry;
    FileIdentity& file = entry.identity;
    words >> form >> file.device >> file.inode >> file.size >> file.modified_ns >> file.changed_ns >> entry.digest;
    if (words && form == kForm && !(words >> rest)) entries_.push_back(std::move(entry));
  }
  if (entries_.size() > kMost) entries_.erase(entries_.begin(), entries_.end() - kMost);
}

bool VerifiedFiles::Has(const InputFile& file, const std::string& digest) const {
  MutexLock lock(mutex_);
  return std::find(entries_.begin(), entries_.end(), Entry{file.identity(), digest}) != entries_.end();
}

Status VerifiedFiles::Add(const InputFile& file, const std::string& digest) {
  std::string text;
  {
    MutexLock lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) {
      return entry.identity.device == file.identity().device && entry.identity.inode == file.identity().inode;
    });
    entries_.push_back({file.identity(), digest});
    if (entries_.size() > kMost) entries_.erase(entries_.begin());
    for (const Entry& entry : entries_) text += LineOf(entry);
  }
  return path_.empty() ? absl::OkStatus() : WriteFile(path_, AsBytes(text), 0600);
}

}  // namespace cuzk::prover
