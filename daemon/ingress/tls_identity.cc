#include "daemon/ingress/tls_identity.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <string_view>
#include <utility>

#include "daemon/sockets/openssl_objects.h"

namespace cuzk::daemon {
namespace {

/// The name of HTTP/2 after its length, as RFC 7301 lists protocols.
constexpr std::string_view kProtocol = "\x02h2";

Status Failed(std::string_view what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return absl::InvalidArgumentError(StrCat(what, ": ", text.data()));
}

/// Takes HTTP/2; ends the handshake with a client that offers only other protocols.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                   unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(kProtocol.data()),
                                           static_cast<unsigned>(kProtocol.size()), offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

Status UseChain(SSL_CTX* context, const std::string& text) {
  const Bio bio = Reader(text);
  Certificate own(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) return Failed("tls.certificate");
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    if (SSL_CTX_add0_chain_cert(context, next) == 1) continue;  // owned by the context then
    X509_free(next);
    return Failed("tls.certificate");
  }
  ERR_clear_error();  // the end of the text
  return absl::OkStatus();
}

Status UseKey(SSL_CTX* context, const std::string& text) {
  const Key key(PEM_read_bio_PrivateKey(Reader(text).get(), nullptr, nullptr, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return Failed("tls.key");
  }
  return absl::OkStatus();
}

Status AskClients(SSL_CTX* context, const std::string& text) {
  const Bio bio = Reader(text);
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  while (const Certificate authority{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(store, authority.get()) != 1 || SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return Failed("tls.client_ca");
    }
  }
  ERR_clear_error();  // the end of the text
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return absl::OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<TlsIdentity>> TlsIdentity::Make(const TlsFiles& files, TlsMaterial material) {
  std::unique_ptr<TlsIdentity> identity(new TlsIdentity(files.mutual()));
  CUZK_RETURN_IF_ERROR(identity->Replace(std::move(material)));
  return identity;
}

StatusOr<TlsIdentity::Context> TlsIdentity::MakeContext(const TlsMaterial& material) const {
  Context context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (!context) return Failed("tls.certificate");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Sessions are not resumed: with them a client's certificate would not be asked for again.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context.get(), &ChooseProtocol, nullptr);
  CUZK_RETURN_IF_ERROR(UseChain(context.get(), material.certificate));
  CUZK_RETURN_IF_ERROR(UseKey(context.get(), material.key));
  if (mutual_) CUZK_RETURN_IF_ERROR(AskClients(context.get(), material.client_ca));
  return context;
}

Status TlsIdentity::Replace(TlsMaterial material) {
  CUZK_ASSIGN_OR_RETURN(Context context, MakeContext(material));
  auto next = std::make_shared<const TlsMaterial>(std::move(material));
  MutexLock lock(mutex_);
  material_ = std::move(next);
  context_ = std::move(context);
  return absl::OkStatus();
}

std::shared_ptr<const TlsMaterial> TlsIdentity::material() const {
  MutexLock lock(mutex_);
  return material_;
}

SSL* TlsIdentity::NewSession() const {
  MutexLock lock(mutex_);
  return SSL_new(context_.get());
}

}  // namespace cuzk::daemon
