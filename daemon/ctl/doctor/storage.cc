// doctor: parameter files, the disk that they are on, and the folder of accepted jobs.

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <memory>

#include "core/base/file.h"
#include "core/base/input_file.h"
#include "core/filecoin/parameter_bytes.h"
#include "core/filecoin/types/registry.h"
#include "core/groth16/identity.h"
#include "core/groth16/parameter_file.h"
#include "core/store/state_directory.h"
#include "daemon/ctl/doctor/finding.h"

namespace cuzk::daemon {
namespace {

using Level = Finding::Level;
namespace fs = std::filesystem;

std::string FetchAdvice(const filecoin::Circuit& circuit) { return StrCat("curio fetch-params ", circuit.size->name); }

StatusOr<std::string> DigestOf(const fs::path& path) {
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  return groth16::PublishedDigest(file, {});
}

// What is wrong with the key file beside the parameters; empty: nothing.
std::string KeyFault(const fs::path& folder, const filecoin::Circuit& circuit, bool development) {
  fs::path path = folder / circuit.key_file();
  std::error_code error;
  if (!fs::exists(path, error)) return StrCat(circuit.key_file(), " is missing");
  if (development || circuit.key_digest.empty()) return "";
  StatusOr<std::string> digest = DigestOf(path);
  if (!digest.ok()) return StrCat(digest.status().message());
  return *digest == circuit.key_digest ? "" : StrCat(circuit.key_file(), " is not the published key");
}

/// Reads a development file and compares it with the record beside it.
Status CheckRecord(const fs::path& path) {
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  CUZK_ASSIGN_OR_RETURN(const groth16::ExpectedDigest expected, groth16::ExpectedDigestOf(path, std::nullopt));
  return groth16::CheckDigest(file, expected, {});
}

Finding Present(const Settings& settings, const fs::path& folder, const filecoin::Circuit& circuit, bool digests) {
  Finding finding{Level::kOk, StrCat("parameters ", circuit.id)};
  fs::path path = folder / circuit.params_file();
  Status whole = filecoin::CheckParameterHead(circuit, path);
  if (whole.ok()) whole = groth16::ParameterFile::Open(path).status();  // reads the key and the lengths
  if (!whole.ok()) return {Level::kFail, finding.check, StrCat(whole.message()), "fetch the file again"};
  std::error_code error;
  finding.said = StrCat(fs::file_size(path, error) >> 20, " MiB, the lengths are right");
  auto record = groth16::ReadDevelopmentRecord(path);
  bool development = record.ok() && record->has_value();
  if (std::string fault = KeyFault(folder, circuit, development); !fault.empty()) {
    return {Level::kFail, finding.check, fault, FetchAdvice(circuit)};
  }
  if (development) {
    finding.said += "; development parameters";
    if (digests) {
      if (Status same = CheckRecord(path); !same.ok()) {
        return {Level::kFail, finding.check, StrCat(same.message()),
                "make the parameters again with cuzkctl params make"};
      }
      finding.said += "; the digest matches the development record";
    }
    bool allowed = settings.Bool("params.allow_development");
    finding.level = allowed ? Level::kWarn : Level::kFail;
    finding.advice = allowed ? "their maker can forge proofs; never use them on a real network"
                             : "refused while params.allow_development is false; " + FetchAdvice(circuit);
    return finding;
  }
  if (circuit.params_digest.empty()) {
    return {Level::kFail, finding.check,
            finding.said + "; no setup was published for this circuit, and the file has no development record",
            "make the parameters with cuzkctl params make"};
  }
  if (!digests) {
    finding.said += "; the key matches the published digest; the digest of the file was not checked";
    finding.advice = "cuzkctl doctor --digests checks the digest, as the daemon does when it loads the file";
    return finding;
  }
  StatusOr<std::string> digest = DigestOf(path);
  if (!digest.ok()) return {Level::kFail, finding.check, StrCat(digest.status().message()), "check the disk"};
  if (*digest != circuit.params_digest) {
    return {Level::kFail, finding.check, StrCat("digest ", *digest, " is not the published ", circuit.params_digest),
            "remove the file and " + FetchAdvice(circuit)};
  }
  finding.said += "; the digest matches the published digest";
  return finding;
}

// One line for the circuits of a size that are not there. A provider needs those of his sectors' size.
Finding Missing(const filecoin::SizeRow& size, const std::string& missing, bool some, bool other_sizes) {
  Finding finding{Level::kOk, StrCat("parameters for ", size.name, " sectors")};
  if (missing.empty()) {
    finding.said = "all present";
    return finding;
  }
  finding.said = some ? StrCat("missing: ", missing) : "none";
  finding.advice = StrCat("if you have sectors of this size: curio fetch-params ", size.name);
  if (some) finding.level = Level::kWarn;
  if (!some && !other_sizes) finding.level = Level::kFail;
  return finding;
}

bool IsThere(const fs::path& folder, const filecoin::Circuit& circuit) {
  std::error_code error;
  return fs::is_regular_file(folder / circuit.params_file(), error);
}

fs::path LargestParameters(const fs::path& folder) {
  fs::path largest;
  uint64_t bytes = 0;
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    std::error_code error;
    uint64_t size = fs::file_size(folder / circuit.params_file(), error);
    if (error || size <= bytes) continue;
    bytes = size;
    largest = folder / circuit.params_file();
  }
  return largest;
}

// Bytes a second, past the page cache where the file system allows that.
StatusOr<double> ReadRate(const fs::path& path) {
  constexpr size_t kBlock = size_t{8} << 20, kAlignment = 4096;
  constexpr uint64_t kMost = uint64_t{1} << 30;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (fd < 0) fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "cannot open", path);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(kAlignment, kBlock), &std::free);
  uint64_t total = 0;
  auto begin = std::chrono::steady_clock::now();
  ssize_t got = 0;
  while (total < kMost && (got = read(fd, block.get(), kBlock)) > 0) total += static_cast<uint64_t>(got);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  int error = errno;
  close(fd);
  if (got < 0) return ErrnoStatus(error, "cannot read", path);
  return static_cast<double>(total) / std::max(took.count(), 1e-9);
}

std::string OwnerName(uid_t uid) {
  const passwd* user = getpwuid(uid);
  return user ? user->pw_name : StrCat("uid ", uid);
}

// Writes a file, makes sure that it is on the disk, and removes it.
Status TryWriting(const fs::path& folder) {
  std::string name = (folder / ".cuzkctl-doctor-XXXXXX").string();
  int fd = mkstemp(name.data());
  if (fd < 0) return ErrnoStatus(errno, "cannot write in", folder);
  int error = write(fd, "x", 1) == 1 && fsync(fd) == 0 ? 0 : errno;
  close(fd);
  unlink(name.c_str());
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, "cannot write in", folder);
}

}  // namespace

Findings CheckParameters(const Settings& settings, bool digests) {
  const fs::path folder = settings.Text("params.directory");
  Findings findings;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return {
        {Level::kFail, "parameters", StrCat("there is no directory ", folder.string()),
         "curio fetch-params 32GiB creates it, or set params.directory; for a trial without sectors: cuzkctl params "
         "make"}};
  }
  for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
    if (IsThere(folder, circuit)) findings.push_back(Present(settings, folder, circuit, digests));
  }
  bool any = !findings.empty();
  constexpr uint64_t kProduction = uint64_t{32} << 30;
  for (const filecoin::SizeRow& size : filecoin::Sizes()) {
    if (!size.published || size.bytes < kProduction) continue;
    std::string missing;
    bool some = false;
    for (const filecoin::Circuit& circuit : filecoin::Circuits()) {
      if (circuit.size != &size) continue;
      bool there = IsThere(folder, circuit);
      some = some || there;
      if (!there) missing += StrCat(missing.empty() ? "" : ", ", circuit.id);
    }
    findings.push_back(Missing(size, missing, some, any));
  }
  return findings;
}

Findings CheckDisk(const Settings& settings) {
  const fs::path path = LargestParameters(settings.Text("params.directory"));
  if (path.empty()) return {{Level::kOk, "disk", "no parameter file to read", ""}};
  StatusOr<double> rate = ReadRate(path);
  if (!rate.ok()) {
    return {{Level::kFail, "disk", StrCat(rate.status().message()),
             "make the parameter files readable for the daemon's user"}};
  }
  std::error_code error;
  double seconds = static_cast<double>(fs::file_size(path, error)) / *rate;
  Finding finding{
      Level::kOk, "disk",
      StrCat(static_cast<uint64_t>(*rate / 1e6), " MB/s; the largest file takes ", std::lround(seconds), " s to read")};
  constexpr double kSlow = 500e6;
  if (*rate < kSlow) {
    finding.level = Level::kWarn;
    finding.advice = "put params.directory on an NVMe disk, or load the parameters at start with params.preload";
  }
  return {finding};
}

std::string_view NetworkFileSystem(uint64_t magic) {
  constexpr std::pair<uint64_t, std::string_view> kKnown[] = {{0x6969, "NFS"},      {0x517b, "SMB"},
                                                              {0xfe534d42, "SMB"},  {0xff534d42, "SMB"},
                                                              {0x00c36400, "Ceph"}, {0x0bd00bd0, "Lustre"}};
  for (const auto& [known, name] : kKnown) {
    if (known == magic) return name;
  }
  return "";
}

Findings CheckState(const Settings& settings) {
  const fs::path folder = settings.Text("jobs.state_directory");
  const std::string check = "state directory";
  if (folder.empty()) {
    return {{Level::kWarn, check, "not set, so accepted jobs do not survive a restart", "set jobs.state_directory"}};
  }
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) {
    if (errno != ENOENT) {
      return {{Level::kWarn, check, StrCat(ErrnoStatus(errno, "look at", folder).message()),
               "run doctor as the daemon's user or as root"}};
    }
    return {{Level::kOk, check, StrCat(folder.string(), " does not exist yet"),
             "the first start creates it; under systemd, ReadWritePaths must name any directory but /var/lib/cuzkd"}};
  }
  const std::string advice = StrCat("chmod 0700 ", folder.string());
  if (!store::CheckStateDirectory(folder).ok()) {
    return {{Level::kFail, check, StrCat(folder.string(), " is open to all users, so the daemon refuses it"), advice}};
  }
  if ((info.st_mode & 0077) != 0) {
    return {{Level::kWarn, check, StrCat(folder.string(), " is open to users other than its owner"), advice}};
  }
  struct statfs system {};
  if (statfs(folder.c_str(), &system) == 0) {
    const std::string_view name = NetworkFileSystem(static_cast<uint32_t>(system.f_type));
    if (!name.empty()) {
      return {{Level::kWarn, check, StrCat(folder.string(), " is on ", name, "; while that hangs, no job is accepted"),
               "put jobs.state_directory on a local disk"}};
    }
  }
  struct statvfs space {};
  uint64_t wanted = settings.Size("jobs.stored").value_or(0);
  if (statvfs(folder.c_str(), &space) == 0) {
    uint64_t free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
    if (free_bytes < wanted) {
      return {{Level::kWarn, check, StrCat(free_bytes >> 20, " MiB free, jobs.stored is ", wanted >> 20, " MiB"),
               "free some space, or lower jobs.stored"}};
    }
  }
  if (geteuid() != 0 && geteuid() != info.st_uid) {
    return {{Level::kOk, check, StrCat(folder.string(), " belongs to ", OwnerName(info.st_uid)),
             "run doctor as that user or as root to check that it is writable"}};
  }
  if (Status written = TryWriting(folder); !written.ok()) {
    return {{Level::kFail, check, StrCat(written.message()), "check the disk, and ReadWritePaths of the unit"}};
  }
  return {{Level::kOk, check, StrCat(folder.string(), " belongs to ", OwnerName(info.st_uid), ", writable")}};
}

}  // namespace cuzk::daemon
