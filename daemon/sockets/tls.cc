#include "daemon/sockets/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <memory>

#include "core/base/file.h"
#include "daemon/sockets/openssl_objects.h"

namespace cuzk::daemon {
namespace {

// What names the file, a setting or a flag, and the file.
struct Source {
  const char* name;
  const std::string& path;
  std::string Place() const { return StrCat(name, ": ", path); }
};

// The first of one or more certificates; all must be readable.
StatusOr<Certificate> ReadChain(const Source& source, const std::string& text) {
  Bio bio = Reader(text);
  Certificate first;
  while (true) {
    Certificate next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!next) break;
    if (!first) first = std::move(next);
  }
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (!first) return absl::InvalidArgumentError(StrCat(source.Place(), ": contains no PEM certificate"));
  if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    return absl::InvalidArgumentError(StrCat(source.Place(), ": a certificate after the first one is broken"));
  }
  return first;
}

// OpenSSL would ask on the terminal.
int NoPassPhrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

StatusOr<Key> ReadKey(const Source& source, const std::string& text) {
  bool asked = false;
  Key key(PEM_read_bio_PrivateKey(Reader(text).get(), nullptr, &NoPassPhrase, &asked));
  ERR_clear_error();
  if (key) return key;
  return absl::InvalidArgumentError(StrCat(source.Place(), asked
                                                               ? ": is protected by a pass phrase; store it without one"
                                                               : ": contains no PEM private key"));
}

Status CheckKeyMode(const Source& source) {
  struct stat info {};
  if (stat(source.path.c_str(), &info) != 0) return absl::OkStatus();  // reading it says why
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(StrCat(source.Place(), ": is not a file"));
  const bool by_root = info.st_uid == 0;
  if (!by_root && info.st_uid != geteuid()) {
    return absl::PermissionDeniedError(StrCat(source.Place(), ": belongs to neither this user nor root"));
  }
  const mode_t closed = by_root ? 0037 : 0077;
  if ((info.st_mode & closed) != 0) {
    return absl::PermissionDeniedError(
        StrCat(source.Place(), ": other users can read it; chmod ", by_root ? "0640" : "0600", " or stricter"));
  }
  return absl::OkStatus();
}

StatusOr<std::string> Read(const Source& source) {
  StatusOr<std::string> text = ReadFile(source.path);
  if (!text.ok()) return Annotate(text.status(), source.name);
  return text;
}

// Both files, which must belong together, and the own certificate of the first.
StatusOr<Certificate> ReadPair(const Source& certificate, const Source& key, std::string& chain, std::string& secret) {
  CUZK_ASSIGN_OR_RETURN(chain, Read(certificate));
  CUZK_RETURN_IF_ERROR(CheckKeyMode(key));
  CUZK_ASSIGN_OR_RETURN(secret, Read(key));
  CUZK_ASSIGN_OR_RETURN(Certificate own, ReadChain(certificate, chain));
  CUZK_ASSIGN_OR_RETURN(Key parsed, ReadKey(key, secret));
  if (X509_check_private_key(own.get(), parsed.get()) == 1) return own;
  ERR_clear_error();
  return absl::InvalidArgumentError(StrCat(key.Place(), ": is not the key of ", certificate.path));
}

StatusOr<std::string> ReadAuthority(const Source& source) {
  CUZK_ASSIGN_OR_RETURN(std::string text, Read(source));
  CUZK_RETURN_IF_ERROR(ReadChain(source, text).status());
  return text;
}

std::chrono::system_clock::time_point TimeOf(const ASN1_TIME* time) {
  tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? std::chrono::system_clock::from_time_t(timegm(&parts))
                                            : std::chrono::system_clock::time_point();
}

}  // namespace

Status CheckTlsFiles(const TlsFiles& files) {
  if (!files.enabled()) return absl::OkStatus();
  if (files.certificate.empty()) return absl::InvalidArgumentError("tls.certificate: must be given with tls.key");
  if (files.key.empty()) return absl::InvalidArgumentError("tls.key: must be given with tls.certificate");
  return absl::OkStatus();
}

StatusOr<TlsMaterial> ReadTlsMaterial(const TlsFiles& files) {
  CUZK_RETURN_IF_ERROR(CheckTlsFiles(files));
  const Source certificate{"tls.certificate", files.certificate}, key{"tls.key", files.key};
  TlsMaterial material;
  CUZK_ASSIGN_OR_RETURN(Certificate own, ReadPair(certificate, key, material.certificate, material.key));
  material.not_before = TimeOf(X509_get0_notBefore(own.get()));
  material.not_after = TimeOf(X509_get0_notAfter(own.get()));
  if (files.mutual()) {
    CUZK_ASSIGN_OR_RETURN(material.client_ca, ReadAuthority({"tls.client_ca", files.client_ca}));
  }
  return material;
}

StatusOr<ClientTlsMaterial> ReadClientTls(const ClientTlsFiles& files) {
  if (files.authority.empty()) return absl::InvalidArgumentError("--tls-ca: must be given with --tls-cert");
  if (files.certificate.empty() != files.key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key: must be given together");
  }
  ClientTlsMaterial material;
  CUZK_ASSIGN_OR_RETURN(material.authority, ReadAuthority({"--tls-ca", files.authority}));
  if (files.certificate.empty()) return material;
  const Source certificate{"--tls-cert", files.certificate}, key{"--tls-key", files.key};
  CUZK_RETURN_IF_ERROR(ReadPair(certificate, key, material.certificate, material.key).status());
  return material;
}

}  // namespace cuzk::daemon
