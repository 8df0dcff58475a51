#include "daemon/grpc/tls_identity.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <utility>

namespace cuzk::daemon {

// One listening port. The library asks for the certificate at every handshake; "unchanged" saves it the work of reading
// the same one again, and what it has seen is a matter of the port.
class TlsIdentity::Port {
 public:
  explicit Port(const TlsIdentity& identity) : identity_(identity) {}

  static grpc_ssl_certificate_config_reload_status Fetch(void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<Port*>(self)->Fetch(config);
  }

 private:
  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config** config) {
    std::shared_ptr<const TlsMaterial> material;
    {
      std::lock_guard lock(identity_.mutex_);
      if (std::exchange(seen_, identity_.generation_) == identity_.generation_) {
        return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
      }
      material = identity_.material_;
    }
    grpc_ssl_pem_key_cert_pair pair{material->key.c_str(), material->certificate.c_str()};
    // The library insists on authorities even where no client is asked for a certificate; any will do then.
    const std::string& authorities = identity_.mutual_ ? material->client_ca : material->certificate;
    *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const TlsIdentity& identity_;
  uint64_t seen_ = 0;  // guarded by the identity's mutex
};

namespace {

// The C++ library offers no credentials whose certificate changes at a given moment; its C core does.
class CoreCredentials final : public grpc::ServerCredentials {
 public:
  explicit CoreCredentials(grpc_server_credentials* credentials) : credentials_(credentials) {}
  ~CoreCredentials() override { grpc_server_credentials_release(credentials_); }
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};

}  // namespace

TlsIdentity::TlsIdentity(const TlsFiles& files, TlsMaterial material)
    : mutual_(files.mutual()), material_(std::make_shared<const TlsMaterial>(std::move(material))) {}

TlsIdentity::~TlsIdentity() = default;

std::shared_ptr<grpc::ServerCredentials> TlsIdentity::Credentials() {
  std::lock_guard lock(mutex_);
  Port& port = *ports_.emplace_back(std::make_unique<Port>(*this));
  auto request =
      mutual_ ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return std::make_shared<CoreCredentials>(grpc_ssl_server_credentials_create_with_options(
      grpc_ssl_server_credentials_create_options_using_config_fetcher(request, &Port::Fetch, &port)));
}

void TlsIdentity::Replace(TlsMaterial material) {
  auto next = std::make_shared<const TlsMaterial>(std::move(material));
  std::lock_guard lock(mutex_);
  material_ = std::move(next);
  ++generation_;
}

std::shared_ptr<const TlsMaterial> TlsIdentity::material() const {
  std::lock_guard lock(mutex_);
  return material_;
}

}  // namespace cuzk::daemon
